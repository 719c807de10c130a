import TransferCore

// Jobs that something else than the limits keeps from starting.
extension Scheduler {
    /// Jobs that the network keeps from starting, by batch.
    func heldByNetwork() -> [Int64: Int] {
        lanes.reduce(into: [:]) { counts, lane in
            guard !network.isOpen(lane.lane, lane.reach) else { return }
            counts[lane.lane.batch, default: 0] += lane.backlog + lane.window.count
        }
    }

    /// What lanes' rules and origins the network closes, of those that have jobs.
    func closedLanes() -> [Lane] { lanes.filter { !network.isOpen($0.lane, $0.reach) }.map(\.lane) }

    /// Jobs that are held back by their origin.
    func heldBack() -> Int {
        lanes.reduce(0) { sum, lane in
            switch gates[lane.lane.origin]?.state {
            case .paused, .probing: sum + lane.backlog + lane.window.count
            default: sum
            }
        }
    }
}
