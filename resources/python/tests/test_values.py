"""Values survive the codec, the frames, the host and shared memory exactly."""

from __future__ import annotations

import math
import os
import random
import shutil
import socket
import subprocess
import sys
import threading
import unittest
from typing import Any, List

from .host_process import HostProcess

from agentcanvas_host.array_value import ITEM_FORMATS, ArrayValue
from agentcanvas_host.frames import FrameReader, ProtocolError, build_frame, send_frame
from agentcanvas_host.shared_memory import SlotFiles, remove_abandoned
from agentcanvas_host.values import Decoder, Encoder

try:
    import numpy
except ImportError:
    numpy = None  # type: ignore[assignment]


def round_trip(value: Any) -> Any:
    encoder = Encoder()
    text = encoder.to_json(value)
    return Decoder().from_json(text, [bytearray(segment) for segment in encoder.segments])


def same(first: Any, second: Any) -> bool:
    """Equal in type too, with NaN equal to NaN and -0 different from 0."""
    if isinstance(first, float) and isinstance(second, (int, float)) and not isinstance(second, bool):
        if math.isnan(first):
            return math.isnan(second)
        return first == second and math.copysign(1, first) == math.copysign(1, second)
    if numpy is not None and isinstance(first, numpy.ndarray):
        return (
            isinstance(second, numpy.ndarray)
            and (first.dtype, first.shape) == (second.dtype, second.shape)
            and first.tobytes() == second.tobytes()
        )
    if type(first) is not type(second):
        return False
    if isinstance(first, dict):
        keys = list(first) == list(second)
        return keys and all(same(first[key], second[key]) for key in first)
    if isinstance(first, (list, tuple)):
        return len(first) == len(second) and all(same(a, b) for a, b in zip(first, second))
    return bool(first == second)


def random_value(draw: random.Random, depth: int = 0) -> Any:
    leaves = [
        lambda: None,
        lambda: draw.random() < 0.5,
        lambda: draw.choice([0, 1, -1, 2**53 - 1, -(2**53), 2**63, -(2**70), 7]),
        lambda: draw.choice([0.5, -0.0, 1e300, 5e-324, math.inf, -math.inf, math.nan, 0.1]),
        lambda: "".join(draw.choice(["a", "é", "漢", "😀", '"', "\\", "\n", "\0", "$", "\ud800"]) for _ in range(draw.randrange(6))),
        lambda: bytes(draw.randrange(256) for _ in range(draw.randrange(9))),
        lambda: random_array(draw),
    ]
    if depth > 3 or draw.random() < 0.4:
        return draw.choice(leaves)()
    size = draw.randrange(5)
    kind = draw.randrange(5)
    if kind == 0:
        return [random_value(draw, depth + 1) for _ in range(size)]
    if kind == 1:
        return tuple(random_value(draw, depth + 1) for _ in range(size))
    if kind == 2:
        return {draw.randrange(100) for _ in range(size)}
    keys: List[Any] = ["a", "$f", "$", "", "é", "__proto__", 5, (1, 2), None, True, 2**60]
    chosen = draw.sample(keys[:6] if kind == 3 else keys, size)
    return {key: random_value(draw, depth + 1) for key in chosen}


def random_array(draw: random.Random) -> Any:
    dtype = draw.choice(list(ITEM_FORMATS))
    shape = tuple(draw.randrange(4) for _ in range(draw.randrange(4)))
    size = math.prod(shape) * ITEM_FORMATS[dtype][1]
    data = bytes(draw.randrange(2 if dtype == "bool" else 256) for _ in range(size))
    if numpy is None:
        return ArrayValue(dtype, shape, bytearray(data))
    return numpy.frombuffer(bytearray(data), dtype=dtype).reshape(shape) if size else numpy.zeros(shape, dtype)


class CodecTest(unittest.TestCase):
    def test_any_value_comes_back_the_same(self) -> None:
        for seed in range(1500):
            value = random_value(random.Random(seed))
            self.assertTrue(same(value, round_trip(value)), f"seed {seed}: {value!r} became {round_trip(value)!r}")

    def test_what_cannot_be_sent_is_named(self) -> None:
        for value, part in ((object(), "builtins.object"), ({"a": [len]}, "builtin_function"), (1j, "complex")):
            with self.assertRaisesRegex(TypeError, part):
                Encoder().to_json(value)
        loop: List[Any] = []
        loop.append(loop)
        with self.assertRaises(RecursionError):
            Encoder().to_json(loop)

    def test_unhashable_members_of_foreign_sets_and_maps_arrive_as_lists(self) -> None:
        decoder = Decoder()
        self.assertEqual(decoder.from_json('{"$s":[[1],[2]]}', []), [[1], [2]])
        self.assertEqual(decoder.from_json('{"$m":[[[1],2]]}', []), [[[1], 2]])
        self.assertEqual(decoder.from_json('{"$i":"5"}', []), 5)

    @unittest.skipUnless(numpy is not None, "numpy is not installed")
    def test_numpy_scalars_views_and_big_endian_arrays(self) -> None:
        self.assertTrue(same(2.5, round_trip(numpy.float32(2.5))))
        self.assertTrue(same(7, round_trip(numpy.int8(7))))
        self.assertTrue(same(True, round_trip(numpy.bool_(True))))
        self.assertTrue(same(math.inf, round_trip(numpy.float64("inf"))))
        whole = numpy.arange(40_000, dtype="float64").reshape(200, 200)
        for view in (whole[::2, ::3], whole.T, whole[5:5], whole[:, :1], whole[::-1]):
            self.assertTrue(same(numpy.ascontiguousarray(view), round_trip(view)))
        self.assertTrue(same(numpy.arange(3, dtype="<i4"), round_trip(numpy.arange(3, dtype=">i4"))))
        self.assertTrue(round_trip(whole).flags.writeable)
        with self.assertRaisesRegex(TypeError, "datetime64"):
            round_trip(numpy.array(["2020-01-01"], dtype="datetime64[D]"))

    @unittest.skipUnless("torch" in sys.modules or os.environ.get("TEST_TORCH"), "torch is not asked for")
    def test_torch_tensors_arrive_as_arrays(self) -> None:
        import torch

        tensor = torch.arange(6, dtype=torch.float32).reshape(2, 3).requires_grad_()
        self.assertTrue(same(tensor.detach().numpy(), round_trip(tensor)))

    def test_pil_images_arrive_as_arrays(self) -> None:
        try:
            from PIL import Image
        except ImportError:
            raise unittest.SkipTest("Pillow is not installed") from None
        array = round_trip(Image.new("L", (4, 2), 9))
        self.assertEqual((tuple(array.shape), str(array.dtype)), ((2, 4, 3), "uint8"))

    def test_arrays_without_numpy(self) -> None:
        array = ArrayValue.from_list("complex64", [[1 + 2j, 0j]])
        self.assertEqual((array.shape, array.nbytes, array.tolist()), ((1, 2), 16, [[1 + 2j, 0j]]))
        self.assertEqual(ArrayValue("float32", (0, 3), b"").tolist(), [])
        with self.assertRaises(ValueError):
            ArrayValue("int32", (2,), b"123")


class FramesTest(unittest.TestCase):
    def test_frames_of_every_size_and_cut_survive(self) -> None:
        draw = random.Random(1)
        ours, theirs = socket.socketpair()
        frames = []
        for size in (0, 1, 7, 8, 9, 4096, 300_000, 3_000_000):
            frames.append(("{" + "x" * draw.randrange(30) + "}", [os.urandom(size), b"", os.urandom(3)]))
        frames.append(("{" + "y" * 400_000 + "}", []))
        frames.append(("{}", [b"z"] * 40_000))
        data = b"".join(bytes(part) for header, segments in frames for part in build_frame(header, segments))

        def feed() -> None:
            position = 0
            while position < len(data):
                step = draw.choice([1, 5, 1000, 200_000, 900_000])
                ours.sendall(data[position : position + step])
                position += step
            ours.close()

        threading.Thread(target=feed).start()
        reader = FrameReader(theirs)
        for header, segments in frames:
            frame = reader.read()
            assert frame is not None
            self.assertEqual(frame[0].rstrip(" "), header)
            self.assertEqual([bytes(segment) for segment in frame[1]], segments)
        self.assertIsNone(reader.read())
        theirs.close()

    def test_malformed_bytes_are_refused(self) -> None:
        good = build_frame("{}", [b"abc"])[0]
        cases = {
            "magic": b"XX" + good[2:],
            "version": good[:2] + b"\2" + good[3:],
            "header": good[:4] + b"\xff\xff\xff\x7f" + good[8:],
            "segments": good[:8] + b"\xff\xff\xff\xff" + good[12:],
            "length": good[:16] + b"\xff" * 8 + good[24:],
            "cut": good[:-1],
        }
        for name, data in cases.items():
            ours, theirs = socket.socketpair()
            ours.sendall(data)
            ours.close()
            with self.subTest(name), self.assertRaises(ProtocolError):
                FrameReader(theirs).read()
            theirs.close()

    def test_a_frame_is_sent_whole_when_the_socket_takes_it_in_parts(self) -> None:
        ours, theirs = socket.socketpair()
        segments = [os.urandom(100_003) for _ in range(600)]
        sender = threading.Thread(target=lambda: send_frame(ours, build_frame("{}", segments)))
        sender.start()
        frame = FrameReader(theirs).read()
        sender.join()
        assert frame is not None
        self.assertEqual([bytes(segment) for segment in frame[1]], segments)
        ours.close()
        theirs.close()


class HostedValuesTest(unittest.TestCase):
    def test_values_survive_the_way_to_a_node_and_back(self) -> None:
        with HostProcess("sample.py", "SampleNodeSet") as host:
            for seed in range(300):
                value = random_value(random.Random(seed))
                returned = host.forward("sample__echo", {"value": value})["outputs"]["value"]
                self.assertTrue(same(value, returned), f"seed {seed}: {value!r} became {returned!r}")

    @unittest.skipUnless(numpy is not None, "numpy is not installed")
    def test_arrays_of_64_megabytes(self) -> None:
        array = numpy.random.default_rng(0).integers(0, 255, (64, 1024, 1024), dtype="uint8")
        with HostProcess("sample.py", "SampleNodeSet") as host:
            self.assertTrue(same(array, host.forward("sample__echo", {"value": array})["outputs"]["value"]))

    @unittest.skipUnless(os.path.isdir("/dev/shm"), "needs a memory file system")
    def test_large_arrays_ride_shared_memory_and_small_ones_do_not(self) -> None:
        with HostProcess("sample.py", "SampleNodeSet") as host:
            hello = host.use_shared_memory()
            self.assertEqual(hello["features"], ["shm"])
            folder = hello["shm_dir"]
            self.assertIn("test-boot.1.2.abcdef", folder)
            self.assertEqual(os.stat(folder).st_mode & 0o777, 0o700)
            taken: List[int] = []
            read_slot = host._decoder.read_slot
            assert read_slot is not None
            host._decoder.read_slot = lambda slot, size: (taken.append(slot), read_slot(slot, size))[1]
            for size in (300_000, 5_000_000, 262_144, 262_143):
                array = self.array(size)
                for _ in range(6):
                    self.assertTrue(same(array, host.forward("sample__echo", {"value": array})["outputs"]["value"]))
            self.assertEqual(len(taken), 18)
            many = [self.array(400_000 + n) for n in range(7)]
            self.assertTrue(same(many, host.forward("sample__echo", {"value": many})["outputs"]["value"]))
            self.assertEqual(len(taken), 18 + 4)
            host.call("shutdown")
            host.process.wait(10)
            self.assertFalse(os.path.exists(folder))

    def array(self, size: int) -> Any:
        data = bytearray(os.urandom(size))
        return ArrayValue("uint8", (size,), data) if numpy is None else numpy.frombuffer(data, dtype="uint8")

    @unittest.skipUnless(os.path.isdir("/dev/shm"), "needs a memory file system")
    def test_a_slot_is_not_written_again_before_it_is_acknowledged(self) -> None:
        slots = SlotFiles.create("unit-test")
        assert slots is not None
        try:
            used = [slots.write(bytes([n]) * 10) for n in range(5)]
            self.assertEqual(sorted(slot for slot in used if slot is not None), [0, 1, 2, 3])
            self.assertIsNone(used[4])
            slots.release(2)
            slots.release(2)
            self.assertEqual(slots.write(b"x"), 2)
            self.assertIsNone(slots.write(b"y"))
        finally:
            slots.close()

    @unittest.skipUnless(os.path.isdir("/dev/shm"), "needs a memory file system")
    def test_slots_of_killed_hosts_are_removed_and_those_of_living_ones_stay(self) -> None:
        namespace = "".join(filter(str.isdigit, os.readlink("/proc/self/ns/pid")))
        process = subprocess.Popen([sys.executable, "-c", ""])
        process.wait()
        folders = {}
        for name, space, pid in (("dead", namespace, process.pid), ("living", namespace, os.getpid()), ("foreign", "1", process.pid)):
            folders[name] = f"/dev/shm/agentcanvas-ac1-0000-{space}-1-1-{os.urandom(4).hex()}-1-{pid}"
            os.mkdir(folders[name])
        try:
            remove_abandoned()
            self.assertEqual([name for name in folders if os.path.isdir(folders[name])], ["living", "foreign"])
        finally:
            for folder in folders.values():
                shutil.rmtree(folder, ignore_errors=True)


if __name__ == "__main__":
    unittest.main()
