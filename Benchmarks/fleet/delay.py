"""A relay with a delay, like a distant network path to a server."""

import asyncio
import multiprocessing
import time


class Delay:
    """A relay in a process of its own, which delays each answer by `seconds`."""

    def __init__(self, host, port, seconds):
        self.place, self.one_way = (host, port), seconds / 2
        own = multiprocessing.Value("i", 0)
        self.turns = multiprocessing.Value("L", 0)
        self.process = multiprocessing.Process(target=self.serve, args=(own,), daemon=True)
        self.process.start()
        while not own.value:
            time.sleep(0.01)
        self.port = own.value

    def serve(self, own):
        async def main():
            server = await asyncio.start_server(self.connect, "127.0.0.1", 0)
            own.value = server.sockets[0].getsockname()[1]
            await server.serve_forever()

        asyncio.run(main())

    async def connect(self, reader, writer):
        ahead, behind = await asyncio.open_connection(*self.place)
        # A question after an answer is one more round trip.
        state = {"asks": False}
        try:
            await asyncio.gather(self.carry(reader, behind, state, True), self.carry(ahead, writer, state, False))
        except ConnectionError:
            pass

    async def carry(self, reader, writer, state, asks):
        due = asyncio.Queue()
        sending = asyncio.create_task(self.send(due, writer))
        try:
            while data := await reader.read(1 << 16):
                if asks and not state["asks"]:
                    with self.turns.get_lock():
                        self.turns.value += 1
                state["asks"] = asks
                due.put_nowait((time.monotonic() + self.one_way, data))
        finally:
            due.put_nowait((time.monotonic() + self.one_way, None))
            await sending

    @staticmethod
    async def send(due, writer):
        while True:
            moment, data = await due.get()
            await asyncio.sleep(max(0, moment - time.monotonic()))
            if data is None:
                writer.close()
                return
            writer.write(data)
            await writer.drain()

    def stop(self):
        self.process.terminate()
