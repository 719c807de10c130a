import DequeModule
import TransferCore
package import TransferJobs

// Jobs that wait for the network, and for which machines.
extension Scheduler {
    /// The rules of the network under which jobs wait or could start.
    package var networks: Set<String> { Set(table.lanes.map(\.lane.network)) }

    package func batches(under network: String) -> Set<Int64> {
        Set(table.lanes.lazy.filter { $0.lane.network == network }.map(\.lane.batch))
    }

    /// Batches of which it's known that jobs under these rules wait for the network.
    package func batchesHeld(under network: String) -> Set<Int64> {
        Set(
            table.lanes.lazy.filter { $0.lane.network == network && self.network.isHeld($0.lane, $0.reach) }
                .map(\.lane.batch))
    }

    /// Batches whose jobs under these rules may all start.
    package func batchesThatGoOn(under network: String) -> Set<Int64> {
        let (open, closed) = table.lanes.lazy.filter { $0.lane.network == network }
            .reduce(into: (Set<Int64>(), Set<Int64>())) { sets, state in
                if self.network.isOpen(state.lane, state.reach) {
                    sets.0.insert(state.lane.batch)
                } else {
                    sets.1.insert(state.lane.batch)
                }
            }
        return open.subtracting(closed)
    }

    /// The machines that jobs under these rules are connected to first, but for this one.
    package func hosts(under networks: Set<String>) -> Set<HostUnderRules> {
        var hosts: Set<HostUnderRules> = []
        for state in table.lanes where networks.contains(state.lane.network) {
            if let host = state.reach.host {
                hosts.insert(HostUnderRules(host: host, network: state.lane.network))
            }
            guard state.isMixed else { continue }
            for candidate in state.window {
                guard let host = candidate.reach.host else { continue }
                hosts.insert(HostUnderRules(host: host, network: state.lane.network))
            }
        }
        return hosts
    }

    /// Claimed jobs that this gate keeps from starting.
    package func kept(by gate: NetworkGate) -> [Candidate] {
        guard gate != NetworkGate() else { return [] }
        return table.lanes.flatMap { state in state.window.filter { !gate.isOpen(state.lane, $0.reach) } }
    }

    /// Lanes with jobs whose rules or origins the network closes.
    package func closedLanes() -> [Lane] { table.lanes.filter { !network.isOpen($0.lane, $0.reach) }.map(\.lane) }
}
