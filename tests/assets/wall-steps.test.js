import { nextStep, troublesFirst, wallSteps } from "../../assets/wall-steps.js";
import { table } from "./table.js";

const page = (group, number = null) => ({ group, page: number });

table("wallSteps", wallSteps, [
  // The whole fleet, then each group, with any number of pages.
  [
    [null, ["Harbor", "Mesa"], 4],
    [page(null), page("Harbor"), page("Mesa")],
  ],
  // Without groups the further pages.
  [
    [null, [], 3],
    [page(null), page(null, "2"), page(null, "3")],
  ],
  // Within a chosen group only its pages.
  [
    ["Mesa", ["Harbor", "Mesa"], 2],
    [page("Mesa"), page("Mesa", "2")],
  ],
  [[null, [], 1], [page(null)]],
  [[null, [], 0], [page(null)]],
]);

table("nextStep", nextStep, [
  [[0, 3], 1],
  [[2, 3], 0],
  [[5, 3], 0],
]);

const silent = { id: "a", state: "silent" };
const well = { id: "b", state: "reporting" };
const again = { id: "a", state: "reporting" };

table("troublesFirst", troublesFirst, [
  [[[], [well]], { troubles: [], tiles: [well] }],
  // On every page first, and once.
  [[[silent], [well]], { troubles: [silent], tiles: [silent, well] }],
  [[[silent], [well, silent]], { troubles: [silent], tiles: [silent, well] }],
  // As it is now, where the page has it.
  [[[silent], [again, null]], { troubles: [again], tiles: [again, null] }],
]);
