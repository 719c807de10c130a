import ServiceLifecycle
import TransferCore
import TransferEventLoop
import TransferFleet
import TransferQueue
import TransferService

/// The service on a queue shared by many machines. After the loss of its lease, it starts anew as soon as the database
/// is available, like a worker, without an operator. At its start, it waits for a database that cannot be reached.
struct ServedWorkers: Service {
    let address: FleetAddress
    /// The service manager, which is informed that the service is alive between two shifts.
    let notify: SystemdNotify?
    /// A closure that runs one shift; it returns when the service is to end.
    let serve: @Sendable () async throws -> Void

    /// The error of a queue that ended without a request.
    struct QueueEnded: Error {
        let error: any Error
    }

    /// The service that runs the queue. It distinguishes the queue's failure from that of other parts.
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
        var (notice, hasServed) = (LastingNotice(), false)
        var pauses = ReconnectPauses()
        while !Task.isShuttingDownGracefully {
            let began = MonotonicTime.now
            do {
                return try await serve()
            } catch {
                if Task.isShuttingDownGracefully { return }
                let hasWorked = error is QueueEnded
                if hasWorked { hasServed = true }
                if let ended = error as? QueueEnded, address.isLasting(ended.error) { throw ended.error }
                guard let reason = reason(error, wasAdmitted: hasServed) else { throw error }
                if MonotonicTime.now - began >= ReconnectPauses.longest { pauses.reset() }
                // Each end of a queue that worked is reported, and a database that stays away once a minute.
                if hasWorked { _ = notice.end() }
                if hasWorked || notice.isDue(at: .now) {
                    StandardStreams.tell("transfer serve: \(reason)\(hasServed ? "; it begins anew" : "")")
                }
                tellManager(isReady: hasServed)
            }
            let pause = pauses.next()
            await cancelWhenGracefulShutdown {
                // A sleep with a reason: the pause between two shifts is a time, and a signal ends it.
                try? await Task.sleep(for: pause)
            }
        }
    }

    /// Informs the service manager that the service waits for its database. Before the first shift, the start is extended,
    /// since the service is ready only once it serves.
    private func tellManager(isReady: Bool) {
        let status = SystemdNotify.Message.status("waiting for the queue's database")
        if isReady {
            notify?.send(.watchdog, status)
        } else {
            notify?.send(.extendTimeout(Self.startTakes), status)
        }
    }

    /// The time that the next attempt and the pause before it may take.
    private static let startTakes = Duration.seconds(120)

    private func reason(_ error: any Error, wasAdmitted: Bool) -> String? {
        if let ended = error as? QueueEnded {
            return
                "the transfers under way were abandoned: \((ended.error as? TransferError)?.message ?? "\(ended.error)")"
        }
        return address.unavailability(error, wasAdmitted: wasAdmitted).map {
            "the queue's database is away, waiting for it: \($0.message)"
        }
    }
}
