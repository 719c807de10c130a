import Foundation
import TransferKit

/// A program that uploads each version of each file in a folder once. It may be killed at any time, and a new start
/// continues the uploads.
///
///     watch-program STATE-FOLDER FOLDER URL
///
/// The URL may contain `{path}`, `{name}` and other placeholders (`URLTemplate`). The program watches until its
/// standard input ends. It exits with 64 for a wrong command line, and with 1 if the folder cannot be watched.
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
        // A queue does not know the working folder of its program.
        var spec = WatchSpec(folder: URL(fileURLWithPath: folder).path, url: url)
        spec.rules.isRecursive = true
        spec.settle = .milliseconds(500)
        let watched = try await WatchedFolder.start(spec, on: queue, events: report)
        let uploads = Task { try await queue.run() }

        await inputEnded()
        await watched.stop()
        // Saves the state of running uploads, and the next start resumes them.
        uploads.cancel()
        try await uploads.value
        await queue.close()
    }

    /// The queue calls this on a thread of its own.
    @Sendable static func report(_ event: WatchedFolderEvent) {
        switch event {
        case .confirmed(let path, _): say("uploaded \(path)")
        case .watch(.rootLost(let error)): say("waiting for the folder: \(error)")
        case .watch(.rootReturned): say("the folder is back")
        default: break
        }
    }

    /// Writes a line at once.
    @Sendable static func say(_ line: String) {
        FileHandle.standardOutput.write(Data((line + "\n").utf8))
    }

    static func inputEnded() async {
        await withCheckedContinuation { continuation in
            // The wait must not block a thread of tasks.
            Thread.detachNewThread {
                while readLine() != nil {}
                continuation.resume()
            }
        }
    }
}
