import CoreMetrics
import Logging
import ServiceLifecycle
import TransferMetrics
import TransferQueue
import TransferService
import UnixSignals

@main
struct ServiceProgram {
    static func main() async throws {
        let logger = Logger(label: "service-program")
        let queue = try await TransferQueue.open(.init(state: CommandLine.arguments[1], logger: logger))
        let group = ServiceGroup(
            services: [QueueService(queue)], gracefulShutdownSignals: [.sigterm, .sigint], logger: logger)
        try await group.run()
        await queue.close()
    }
}
