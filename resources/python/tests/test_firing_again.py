"""Firing again (docs/host-protocol.md): nodes that the engine names by a handle, and waiting awake between two calls."""

from __future__ import annotations

import socket
import threading
import time
import unittest

from .host_process import HostProcess, RemoteError
from agentcanvas_host.frames import MOST_ASLEEP, FrameReader, build_frame

SAMPLE = ("sample.py", "SampleNodeSet")


class FiringAgainTest(unittest.TestCase):
    host: HostProcess

    @classmethod
    def setUpClass(cls) -> None:
        cls.host = HostProcess(*SAMPLE)
        cls.host.call("hello", {"features": ["again"]})

    @classmethod
    def tearDownClass(cls) -> None:
        cls.host.close()

    def test_it_is_offered_to_those_who_ask_for_it(self) -> None:
        self.assertEqual(self.host.call("hello", {"features": ["again"]})["features"], ["again"])
        self.assertEqual(self.host.call("hello", {"features": []})["features"], [])

    def test_outputs_come_in_the_short_form_and_are_those_of_the_long_one(self) -> None:
        host = self.host
        host.forward("sample__echo", {"value": 0}, handle=1)
        for value in (1.5, "text", {"$a": 1, "nested": [1, (2, b"3")]}, float("nan"), 2**70, {1: 2}, None):
            before = host.short_answers
            short = host.fire_again(1, {"value": value})
            self.assertEqual(host.short_answers, before + 1)
            self.assertEqual(repr(short), repr(host.forward("sample__echo", {"value": value}, first=False)))

    def test_step_seed_log_and_signals_are_those_of_this_firing(self) -> None:
        host = self.host
        host.forward("sample__about", execution="again", handle=2, config={"k": 1})
        answer = host.fire_again(2, step=9, seed=31)
        about = answer["outputs"]["about"]
        self.assertEqual((about["count"], about["step"], about["seed"], about["config"]), (2, 9, 31, {"k": 1}))
        self.assertEqual((answer["log"], answer["signals"]), ([["count", 2]], ["looked"]))

    def test_nodes_that_wait_are_batched_or_spawn_fire_again_too(self) -> None:
        host = self.host
        host.forward("sample__wait", {"seconds": 0}, node="w", handle=3, config={"n": 1})
        host.forward("sample__policy", {"x": 4}, node="p", handle=4)
        host.forward("sample__spawner", {"plain": True}, node="s", handle=5)
        self.assertEqual(host.fire_again(3, {"seconds": 0.01})["outputs"], {"config": {"n": 1}})
        self.assertEqual(host.fire_again(4, {"x": 5})["outputs"], {"y": 5})
        self.assertEqual(host.fire_again(5, {"plain": True})["recipe"], {"name": "merge_all"})

    def test_what_fails_is_answered_and_what_no_port_declares_is_left_out(self) -> None:
        host = self.host
        host.forward("sample__trouble", {"kind": "none"}, node="t", handle=6)
        for kind, words in (("raise", "no luck"), ("unsendable", "cannot be sent"), ("garbage", "returned int")):
            with self.subTest(kind), self.assertRaises(RemoteError) as failed:
                host.fire_again(6, {"kind": kind})
            self.assertIn(words, str(failed.exception))
        self.assertEqual(host.fire_again(6, {"kind": "undeclared"})["outputs"], {"value": 1})

    def test_a_handle_ends_with_its_execution(self) -> None:
        host = self.host
        host.forward("sample__echo", {"value": 0}, execution="short", handle=7)
        host.forward("sample__echo", {"value": 0}, execution="long", handle=8)
        host.call("execution.end", {"exec": "short"})
        for handle in (7, 99, None, "8"):
            with self.subTest(handle), self.assertRaises(RemoteError) as refused:
                host.fire_again("null" if handle is None else f'"{handle}"' if isinstance(handle, str) else handle)
            self.assertEqual(refused.exception.code, "protocol_error")
        self.assertEqual(host.fire_again(8, {"value": 1})["outputs"]["value"], 1)

    def test_a_cancelled_firing_is_answered_whether_it_is_queued_or_holds_the_main_thread(self) -> None:
        host = self.host
        host.forward("sample__busy", {"seconds": 0}, node="b", handle=9)
        busy = host.send_again(9, {"seconds": 10})
        queued = host.send_again(9, {"seconds": 10})
        host.cancel(queued)
        host.cancel(busy)
        self.assertEqual(host.wait(busy)["outputs"], {"cancelled": True})
        with self.assertRaises(RemoteError) as cancelled:
            host.wait(queued)
        self.assertEqual(cancelled.exception.code, "aborted")


class MalformedFiringTest(unittest.TestCase):
    def test_a_list_that_is_no_firing_ends_the_connection(self) -> None:
        with HostProcess(*SAMPLE) as host:
            host.socket.sendall(build_frame("[1,2]", [])[0])
            self.assertEqual(host.socket.recv(100), b"")


class PolledSocket:
    """Counts how often it was asked whether bytes are there."""

    def __init__(self, sock: socket.socket, reader: FrameReader) -> None:
        self.count = 0
        self._poll = reader._poll
        reader._poll = self.ask

    def ask(self, milliseconds: int) -> object:
        self.count += 1
        assert self._poll is not None
        return self._poll(milliseconds)


class AwakeTest(unittest.TestCase):
    def setUp(self) -> None:
        self.ours, self.theirs = socket.socketpair()
        self.addCleanup(self.ours.close)
        self.addCleanup(self.theirs.close)
        self.reader = FrameReader(self.theirs)
        self.polled = PolledSocket(self.theirs, self.reader)

    def read_after(self, seconds: float) -> int:
        """How often the reader looked before it had the frame."""
        frame = build_frame("{}", [])[0]
        before = self.polled.count
        sender = threading.Timer(seconds, self.ours.sendall, (frame,))
        sender.start()
        self.assertIsNotNone(self.reader.read())
        sender.join()
        return self.polled.count - before

    def test_it_sleeps_unless_it_is_told_to_stay_awake(self) -> None:
        self.assertEqual(self.read_after(0.01), 0)
        self.reader.awake_seconds = 5.0
        self.assertGreater(self.read_after(0.01), 1)

    def test_it_gives_up_in_time_and_tries_ever_more_seldom_where_that_is_in_vain(self) -> None:
        self.reader.awake_seconds = 0.0001
        tried = [self.read_after(0.005) > 0 for _ in range(12)]
        self.assertEqual(tried, [n in (0, 2, 6) for n in range(12)])
        self.assertLessEqual(self.reader._left_asleep, MOST_ASLEEP)

    def test_it_stays_awake_again_once_that_was_of_use(self) -> None:
        self.reader.awake_seconds = 0.0001
        self.read_after(0.005)
        self.read_after(0.005)
        self.reader.awake_seconds = 5.0
        self.assertTrue(all(self.read_after(0.002) > 0 for _ in range(4)))

    def test_the_end_of_the_stream_is_seen_while_awake(self) -> None:
        self.reader.awake_seconds = 5.0
        begun = time.monotonic()
        threading.Timer(0.05, self.ours.close).start()
        self.assertIsNone(self.reader.read())
        self.assertLess(time.monotonic() - begun, 3.0)
