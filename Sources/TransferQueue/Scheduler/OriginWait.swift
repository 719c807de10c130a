import TransferCore

/// An origin that jobs wait for, as its gate has it.
struct OriginWait: Sendable, Hashable {
    var origin: String
    /// `nil` while a job tries.
    var until: MonotonicTime?
    var status: Int?
    var message: String
}

extension Scheduler {
    /// All origins that keep jobs from starting for now.
    func originWaits() -> Set<OriginWait> {
        Set(
            gates.compactMap { origin, gate in
                switch gate.state {
                case .paused(let until, let reason):
                    OriginWait(
                        origin: origin, until: until, status: reason.error.status, message: reason.error.message)
                case .probing(_, let reason):
                    OriginWait(origin: origin, status: reason.error.status, message: reason.error.message)
                case .open, .dead: nil
                }
            })
    }
}
