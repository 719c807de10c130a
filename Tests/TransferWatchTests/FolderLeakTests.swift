import Foundation
import Glibc
import Testing
import TransferCore
import TransferEventLoop
import TransferTestSupport

@testable import TransferWatch

/// The test runs alone (see `STRESS` in the Makefile), since it measures the memory of the process.
@Suite(.serialized, .timeLimit(.minutes(3))) struct FolderLeakTests {
    static func fill(_ stage: WatchStage, folders: Int, files: Int) throws {
        for folder in 0..<folders {
            let path = try stage.folder.folder("in/folder-\(folder)")
            for file in 0..<files { close(open("\(path)/a-file-with-a-name-\(file)", O_WRONLY | O_CREAT, 0o644)) }
        }
    }

    @Test func aHundredThousandFilesLeaveNoMemoryAndNoWakeUps() async throws {
        let stage = try WatchStage(loopName: "idle-watch", { $0.settle = .milliseconds(20) })
        try Self.fill(stage, folders: 100, files: 1000)
        let consumer = Counter()
        let watcher = FolderWatcher(
            stage.watcher.root, options: options, kernel: .linux, loop: stage.loop, workers: stage.workers,
            consumer: consumer, events: { [uploads = stage.uploads] in uploads.tell($0) })
        let before = try residentBytes()
        watcher.start()
        await stage.caughtUp()
        let grown = try residentBytes() - before
        let count = await consumer.count
        #expect(count == 100_000)
        #expect(grown < 8 << 20, "\(grown) bytes")
        // Nothing happens for a while, measured by another loop: the threads of the watcher do not run at all.
        let other = try EventLoop(name: "other")
        defer { other.stop() }
        let threads = try ["idle-watch", "idle-watch-io"].map { name in
            try #require(ThreadFacts.named(name).max())
        }
        // The threads may just be going to sleep, and a mount by another process wakes them once.
        var switches: [[Substring]] = []
        for _ in 0..<10 {
            let before = threads.map { ThreadFacts.switches($0) }
            await Self.pass(.milliseconds(500), on: other)
            switches = threads.map { ThreadFacts.switches($0) }
            if switches == before { break }
            switches = []
        }
        #expect(!switches.isEmpty)
        let held = await watcher.withMachine { $0.heldFiles }
        #expect(held == 0)
        await watcher.stop()
    }

    private static func pass(_ time: Duration, on loop: EventLoop) async {
        await withCheckedContinuation { continuation in
            loop.execute {
                let timer = loop.makeTimer { continuation.resume() }
                timer.schedule(at: .now + time)
            }
        }
    }

    private var options: FolderWatcher.Options {
        var options = FolderWatcher.Options()
        options.rules.isRecursive = true
        options.settle = .milliseconds(20)
        return options
    }

    private func residentBytes() throws -> Int64 {
        let text = try String(contentsOfFile: "/proc/self/statm", encoding: .utf8)
        let pages = try #require(Int64(text.split(separator: " ")[1]))
        return pages * 4096
    }

    /// A consumer that knows every file.
    actor Counter: WatchConsumer {
        private(set) var count = 0

        func offer(_ files: [FileVersion]) -> Int {
            count += files.count
            return files.count
        }
    }

    enum ThreadFacts {
        static func named(_ name: String) throws -> [Int] {
            try FileManager.default.contentsOfDirectory(atPath: "/proc/self/task").compactMap { Int($0) }.filter {
                (try? String(contentsOfFile: "/proc/self/task/\($0)/comm", encoding: .utf8)) == name + "\n"
            }
        }

        /// Returns how often a thread has run on the processor.
        static func switches(_ thread: Int) -> [Substring] {
            let text = (try? String(contentsOfFile: "/proc/self/task/\(thread)/status", encoding: .utf8)) ?? ""
            return text.split(separator: "\n").filter { $0.contains("ctxt_switches") }
        }
    }
}
