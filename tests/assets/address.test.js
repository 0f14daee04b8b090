import { viewOf, withView } from "../../assets/address.js";
import { table } from "./table.js";

const HERE = "https://weir.example/devices/1?range=7d&theme=dark#below";

table("withView", withView, [
  [[HERE, { range: "24h" }], "https://weir.example/devices/1?range=24h&theme=dark#below"],
  [[HERE, { range: null, zone: "" }], "https://weir.example/devices/1?theme=dark#below"],
  [
    [HERE, { zone: "America/New_York", q: "a & b" }, ["q"]],
    `${HERE.split("#")[0]}&q=a+%26+b#below`,
  ],
  [[HERE, {}], HERE],
  [[HERE, {}, ["range"]], "https://weir.example/devices/1?theme=dark#below"],
]);

table("viewOf", viewOf, [
  [["", ["range"]], { range: null }],
  [["?range=7d&x=1", ["range", "zone"]], { range: "7d", zone: null }],
  [["?q=a+%26+b", ["q"]], { q: "a & b" }],
]);
