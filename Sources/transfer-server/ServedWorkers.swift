import ServiceLifecycle
import TransferCore
import TransferEventLoop
import TransferFleet
import TransferQueue
import TransferService

/// The service on a queue that many machines share. It begins anew when its lease is lost, once the database is there, as a
/// worker does: nobody has to see to it. A database that can't be reached at first ends it.
struct ServedWorkers: Service {
    let address: FleetAddress
    /// The manager of the service, which is told that it's alive between two shifts.
    let notify: SystemdNotify?
    /// One shift; it returns when the service is told to end.
    let serve: @Sendable () async throws -> Void

    /// The queue ended, and nobody had asked for that.
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

    func run() async throws {
        var (reported, hasServed) = ("", false)
        var pauses = ReconnectPauses()
        while !Task.isShuttingDownGracefully {
            let began = MonotonicTime.now
            do {
                return try await serve()
            } catch {
                if Task.isShuttingDownGracefully { return }
                if error is QueueEnded { hasServed = true }
                guard hasServed, let reason = reason(error) else { throw error }
                if MonotonicTime.now - began >= ReconnectPauses.longest { pauses.reset() }
                // A database that is away for long is reported once, and each end of a queue that worked.
                if error is QueueEnded || reason != reported {
                    StandardStreams.tell("transfer serve: \(reason); it begins anew")
                }
                reported = reason
            }
            notify?.send(.watchdog)
            let pause = pauses.next()
            await cancelWhenGracefulShutdown {
                // A sleep with a reason: the pause between two shifts is a time, and a signal ends it.
                try? await Task.sleep(for: pause)
            }
        }
    }

    private func reason(_ error: any Error) -> String? {
        if let ended = error as? QueueEnded {
            return "what was under way is given up: \((ended.error as? TransferError)?.message ?? "\(ended.error)")"
        }
        return address.connectionNotice(error).map { "the queue's database is away, waiting for it: \($0.message)" }
    }
}
