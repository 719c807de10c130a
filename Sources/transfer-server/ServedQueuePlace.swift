import Logging
import TransferFleet
import TransferQueue

/// The queue to serve: one in a folder, or one shared by many machines, in which the service is one of the workers.
struct ServedQueuePlace: Sendable {
    /// The address of a shared queue; `nil` for one in a folder.
    private let address: FleetAddress?
    private let configuration: QueueConfiguration
    private let rules: OutsideRules

    init(_ address: FleetAddress?, _ configuration: QueueConfiguration, _ rules: OutsideRules) {
        self.address = address
        self.configuration = configuration
        self.rules = rules
    }

    func open() async throws -> JobQueue {
        guard let address else { return try await JobQueue.open(configuration) }
        var worker = FleetWorker(rules: rules)
        worker.reportConnection = { [logger = configuration.logger] error in
            if let error {
                logger.warning("the queue's database is away, waiting for it: \(error.message)")
            } else {
                logger.info("the queue's database is there")
            }
        }
        worker.reportDurability = { [logger = configuration.logger] in logger.warning("\($0)") }
        return try await Fleet.work(on: address, as: worker, configuration)
    }

    /// Returns a second access to the queue, for queries.
    func remote() throws -> QueueRemote {
        if let address { return try Fleet.look(at: address) }
        return try QueueRemote(state: configuration.state, runtimeFolder: configuration.runtimeFolder)
    }
}

extension ServedQueuePlace {
    /// Returns the regular removal of batches that ended long ago.
    ///
    /// - Parameter remote: The access to the queue, for a queue in a folder.
    func retention(_ age: Duration, _ remote: QueueRemote) -> RetentionSchedule {
        RetentionSchedule(age: age) { [address] age in
            guard let address else { return try remote.removeSubmitted(endedFor: age) }
            return try FleetRetention(address).prune(olderThan: age)
        } report: { [logger = configuration.logger] words, isFailure in
            if isFailure { logger.warning("\(words)") } else { logger.info("\(words)") }
        }
    }
}
