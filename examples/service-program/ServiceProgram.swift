import Foundation
import Logging
import MetricsTestKit
import ServiceLifecycle
import TransferMetrics
import TransferQueue
import TransferService
import UnixSignals

/// A server program that keeps files up to date with a durable queue, and shuts down in order. SIGTERM may come at any
/// time, and a new start continues the work.
///
///     service-program STATE-FOLDER TARGET-FOLDER URL…
@main
struct ServiceProgram {
    static func main() async throws {
        let arguments = Array(CommandLine.arguments.dropFirst())
        guard arguments.count >= 3 else {
            print("usage: service-program STATE-FOLDER TARGET-FOLDER URL…")
            return
        }
        let logger = Logger(label: "mirror")
        let queue = try await TransferQueue.open(.init(state: arguments[0], logger: logger))
        // A server uses a backend that is scraped. This program writes each change to standard error.
        let metrics = QueueMetrics(of: queue, factory: StreamMetricsFactory(stream: StandardError()))
        let mirror = Mirror(queue: queue, target: arguments[1], urls: Array(arguments[2...]), logger: logger)
        // Services end in the reverse of this order: the one that submits jobs ends first.
        let group = ServiceGroup(
            services: [QueueService(queue), mirror], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
        await queue.close()
        withExtendedLifetime(metrics) {}
    }
}

/// The server's own work: it fetches its files once, and then waits for its end.
struct Mirror: Service {
    let queue: TransferQueue
    let target: String
    let urls: [String]
    let logger: Logger

    func run() async throws {
        try await cancelWhenGracefulShutdown {
            do {
                for url in urls {
                    let job = try await queue.submit(.download(url, to: target + "/"), batch: "mirror")
                    let receipt = try await job.receipt(unattended: .seconds(60))
                    logger.info("\(receipt.path) has \(receipt.bytes) bytes")
                }
                try await gracefulShutdown()
            } catch is CancellationError {
                // The queue keeps the job, and the next start waits for it again.
            }
        }
    }
}

struct StandardError: TextOutputStream {
    func write(_ text: String) { FileHandle.standardError.write(Data(text.utf8)) }
}
