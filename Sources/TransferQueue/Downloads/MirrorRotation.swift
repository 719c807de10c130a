import TransferCore
import TransferJobs
import TransferScheduling

/// The other mirrors of a download whose server the network doesn't lead to.
struct MirrorRotation {
    struct Turn {
        let mirror: Int
        let lane: Lane
        let reach: OriginReach
    }

    /// In the order of their turn.
    let turns: [Turn]

    init(of candidate: Scheduler.Candidate, _ record: JobRecord?, _ builder: RequestBuilder) {
        guard let record, case .download(let download) = record.spec.work else {
            turns = []
            return
        }
        turns = (1..<max(1, download.urls.count)).compactMap { step in
            let mirror = (record.mirror + step) % download.urls.count
            guard !record.hasSpent(mirror) else { return nil }
            let origin = record.spec.origin(mirror: mirror)
            return Turn(
                mirror: mirror,
                lane: candidate.lane.turned(to: origin),
                reach: builder.reach(record.spec, origin: origin, straight: OriginReach(origin: origin)))
        }
    }

    /// The machines that the mirrors are on.
    var machines: [HostUnderRules] {
        turns.compactMap { turn in
            turn.reach.host.map { HostUnderRules(host: $0, network: turn.lane.network) }
        }
    }

    func firstOpen(_ gate: NetworkGate) -> Turn? { turns.first { gate.isOpen($0.lane, $0.reach) } }
}
