import ServiceLifecycle
import TransferCore
import TransferFleet
import TransferQueue
import TransferService
import UnixSignals

/// The service on a queue that many machines share. Where its lease is lost it begins anew, once the database is there, as a
/// worker does: nobody has to see to it. A database that can't be reached at first ends it.
struct ServedShifts {
    let address: FleetAddress

    /// The queue's end that nobody asked for.
    struct QueueEnded: Error {
        let error: any Error
    }

    /// Runs the queue, whose failure isn't one of the service's other parts.
    struct Worker: Service {
        let queue: JobQueue

        func run() async throws {
            do {
                try await QueueService(queue).run()
            } catch {
                throw QueueEnded(error: error)
            }
        }
    }

    /// The time between two shifts, which a signal ends.
    private struct Pause: Service {
        static let length = Duration.seconds(1)

        func run() async {
            await cancelWhenGracefulShutdown {
                // A sleep with a reason: what is waited for is a time.
                try? await Task.sleep(for: Self.length)
            }
        }
    }

    /// - Parameter serve: One shift; returns when the service is told to end.
    func run(_ serve: () async throws -> Void) async throws {
        var (told, hasServed) = ("", false)
        while true {
            do {
                return try await serve()
            } catch {
                if error is QueueEnded { hasServed = true }
                guard hasServed, let reason = reason(error) else { throw error }
                // A database that is away for long is told of once.
                if reason != told { StandardStreams.tell("transfer serve: \(reason); it begins anew") }
                told = reason
            }
            if try await pauseIsCutShort() { return }
        }
    }

    private func reason(_ error: any Error) -> String? {
        if let ended = error as? QueueEnded {
            return "what was under way is given up: \((ended.error as? TransferError)?.message ?? "\(ended.error)")"
        }
        return address.absence(error).map { "the queue's database is away, waiting for it: \($0.message)" }
    }

    private func pauseIsCutShort() async throws -> Bool {
        let begun = ContinuousClock.now
        let group = ServiceGroup(
            configuration: ServiceGroupConfiguration(
                services: [.init(service: Pause(), successTerminationBehavior: .gracefullyShutdownGroup)],
                gracefulShutdownSignals: [.sigterm, .sigint], logger: Serving.quiet))
        try await group.run()
        return ContinuousClock.now - begun < Pause.length
    }
}
