import Logging
import TransferFleet
import TransferQueue

/// The queue that is served: a folder's, or one of many machines, which the service works on beside others.
struct ServedQueuePlace: Sendable {
    /// The queue of many machines; `nil` for a folder's.
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

    /// The same queue, for looks at it.
    func remote() throws -> QueueRemote {
        if let address { return try Fleet.look(at: address) }
        return try QueueRemote(state: configuration.state, runtimeFolder: configuration.runtimeFolder)
    }
}
