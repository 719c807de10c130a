import Foundation
import TransferKit

/// A program that uploads what appears in a folder, each version of each file once: kill it at any time, start it again,
/// and it goes on.
///
///     watch-program STATE-FOLDER FOLDER URL
///
/// The URL may hold `{path}`, `{name}` and others (`URLTemplate`). It watches until its standard input ends.
/// It exits with 64 for a wrong command line, and with 1 when the folder can't be watched.
@main
struct WatchProgram {
    static func main() async {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count == 3 else {
            print("usage: watch-program STATE-FOLDER FOLDER URL")
            exit(64)
        }
        do {
            try await run(state: arguments[0], folder: arguments[1], url: arguments[2])
        } catch {
            print("failed: \(error)")
            exit(1)
        }
    }

    static func run(state: String, folder: String, url: String) async throws {
        let queue = try await TransferQueue.open(.init(state: state))
        queue.observe { event in
            guard case .failed(let failure) = event.kind else { return }
            say("failed \(WatchedFolder.path(ofJob: failure.job)): \(failure.error)")
        }
        // A queue knows nothing of the folder that its program was started in.
        var spec = WatchSpec(folder: URL(fileURLWithPath: folder).path, url: url)
        spec.rules.isRecursive = true
        spec.settle = .milliseconds(500)
        let watched = try await WatchedFolder.start(spec, on: queue, events: report)
        let uploads = Task { try await queue.run() }

        await inputEnded()
        await watched.stop()
        // Checkpoints what is under way; the next start goes on with it.
        uploads.cancel()
        try await uploads.value
        await queue.close()
    }

    /// Called on a thread of the queue.
    @Sendable static func report(_ event: WatchedFolderEvent) {
        switch event {
        case .confirmed(let path, _): say("uploaded \(path)")
        case .watch(.rootLost(let error)): say("waiting for the folder: \(error)")
        case .watch(.rootReturned): say("the folder is back")
        default: break
        }
    }

    /// At once, whoever reads it.
    @Sendable static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func inputEnded() async {
        await withCheckedContinuation { continuation in
            // Not on a thread that tasks need.
            Thread.detachNewThread {
                while readLine() != nil {}
                continuation.resume()
            }
        }
    }
}
