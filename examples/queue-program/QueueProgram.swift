import Foundation
import TransferKit

/// A program that keeps its downloads in a durable queue. It may be killed at any time, and a new start continues the
/// downloads.
///
///     queue-program STATE-FOLDER TARGET-FOLDER URL…
///
/// STATE-FOLDER/cursor has the position in the events, so that no end of a job is missed. The program exits with 64 for
/// a wrong command line, and with 1 if the queue cannot be opened or run.
@main
struct QueueProgram {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 3 else {
            print("usage: queue-program STATE-FOLDER TARGET-FOLDER URL…")
            exit(64)
        }
        do {
            try await run(state: arguments[0], target: arguments[1], urls: Array(arguments[2...]))
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    static func run(state: String, target: String, urls: [String]) async throws {
        let queue = try await TransferQueue.open(.init(state: state, limits: .init(concurrency: 32, perHost: 8)))
        let cursor = Cursor(file: URL(fileURLWithPath: state).appendingPathComponent("cursor"))

        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await queue.run() }
            group.addTask {
                for try await event in queue.events(after: cursor.load()) {
                    report(event)
                    if let position = event.cursor { try cursor.save(position) }
                }
            }

            var jobs: [JobHandle] = []
            for url in urls {
                jobs.append(try await queue.submit(.download(url, to: target + "/"), batch: "mirror"))
            }
            for job in jobs {
                let receipt = try await job.receipt()
                print("\(receipt.job): \(receipt.bytes) bytes in \(receipt.path)")
            }
            // Ends the run and the events. Other jobs of the queue continue at the next start.
            group.cancelAll()
            do { try await group.waitForAll() } catch is CancellationError {}
        }
        await queue.close()
    }

    static func report(_ event: QueueEvent) {
        switch event.kind {
        case .finished(let receipt): print("finished \(receipt.job), HTTP \(receipt.status)")
        case .kept(let receipt): print("kept \(receipt.job)")
        case .failed(let failure): print("failed \(failure.job): \(failure.error)")
        default: break
        }
    }
}

/// The position in the events of a queue. A program with a database stores it there.
struct Cursor: Sendable {
    let file: URL

    func load() -> Int64 { (try? String(contentsOf: file, encoding: .utf8)).flatMap { Int64($0) } ?? 0 }

    func save(_ position: Int64) throws { try Data("\(position)".utf8).write(to: file, options: .atomic) }
}
