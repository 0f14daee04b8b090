"""A script in the browser, if one ever ran, could not reach any service of this machine."""

from __future__ import annotations

import asyncio
import json
from contextlib import ExitStack
from socket import AF_INET, AF_INET6, SOCK_DGRAM, create_server, socket

import pytest

from web.rendering.browser import Browser

# Ways by which a page's script may try to reach a service of this machine. Weir's pages run no
# script; if one ran anyway, it must not succeed.
_TRIES = """(async () => {
  const tries = urls.map(url => fetch(url, {mode: "no-cors"}));
  tries.push(new Promise((resolve, reject) => {
    const socket = new WebSocket(webSocket);
    socket.onopen = resolve;
    socket.onerror = reject;
  }));
  const peer = new RTCPeerConnection({iceServers: [{urls: stun}]});
  peer.createDataChannel("x");
  await peer.setLocalDescription(await peer.createOffer());
  const ended = await Promise.allSettled(tries);
  while (peer.iceGatheringState !== "complete") await new Promise(r => setTimeout(r, 20));
  return ended.filter(each => each.status === "fulfilled").length;
})()"""


def test_a_script_reaches_no_service_of_this_machine() -> None:
    with ExitStack() as stack:
        here = [("127.0.0.1", AF_INET), ("::1", AF_INET6)]
        tcp = [stack.enter_context(create_server((at, 0), family=kind)) for at, kind in here]
        udp = stack.enter_context(socket(AF_INET, SOCK_DGRAM))
        udp.bind(("127.0.0.1", 0))
        port, port6 = (each.getsockname()[1] for each in tcp)
        names = {
            "urls": [f"http://{host}" for host in (f"127.0.0.1:{port}", f"localhost:{port}",
                     f"[::1]:{port6}")],
            "webSocket": f"ws://127.0.0.1:{port}",
            "stun": f"stun:127.0.0.1:{udp.getsockname()[1]}",
        }  # fmt: skip
        constants = f"const {{urls, webSocket, stun}} = {json.dumps(names)};"
        assert asyncio.run(_run_script(constants)) == 0
        for each in (*tcp, udp):
            each.setblocking(False)
        for each in tcp:
            with pytest.raises(BlockingIOError):
                each.accept()
        with pytest.raises(BlockingIOError):
            udp.recv(100)


async def _run_script(names: str) -> int:
    browser = Browser()
    await browser.open()
    try:
        tab = await browser._kaleido.create_tab("about:blank")
        params = {"expression": f"{{{names}{_TRIES}}}", "awaitPromise": True, "returnByValue": True}
        answer = await tab.send_command("Runtime.evaluate", params=params)
        return answer["result"]["result"]["value"]
    finally:
        browser.kill()
