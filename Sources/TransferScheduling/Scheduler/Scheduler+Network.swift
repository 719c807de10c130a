import DequeModule
import TransferCore
package import TransferJobs

// The jobs that wait for the network, and the hosts that they contact.
extension Scheduler {
    /// The network rules under which jobs wait or could start.
    package var networks: Set<String> { Set(table.lanes.map(\.lane.network)) }

    package func batches(under network: String) -> Set<Int64> {
        Set(table.lanes.lazy.filter { $0.lane.network == network }.map(\.lane.batch))
    }

    /// Returns the batches whose jobs under these rules are known to wait for the network.
    package func batchesHeld(under network: String) -> Set<Int64> {
        Set(
            table.lanes.lazy.filter { $0.lane.network == network && self.network.isHeld($0.lane, $0.reach) }
                .map(\.lane.batch))
    }

    /// Returns the batches whose jobs under these rules may all start.
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

    /// Returns the hosts that jobs under these rules contact first, without this machine.
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

    /// Returns the claimed jobs that this gate keeps from starting.
    package func kept(by gate: NetworkGate) -> [Candidate] {
        guard gate != NetworkGate() else { return [] }
        return table.lanes.flatMap { state in state.window.filter { !gate.isOpen(state.lane, $0.reach) } }
    }

    /// Returns the lanes with jobs whose rules or origins the network closes.
    package func closedLanes() -> [Lane] { table.lanes.filter { !network.isOpen($0.lane, $0.reach) }.map(\.lane) }
}
