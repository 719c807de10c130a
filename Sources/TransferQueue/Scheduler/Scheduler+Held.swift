import TransferCore

// Jobs that their origins keep from starting.
extension Scheduler {
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
