import TransferCore
import TransferEventLoop
import TransferReachability
import TransferStore

/// The runner, as far as its gauges need it.
protocol GaugeHost: PartHost {
    var reporter: Reporter { get }
    /// Whether anybody listens.
    var isMeasured: Bool { get }
    func measure(_ measurements: [Measurement])
    /// Batches of the run that haven't ended.
    var openBatches: [Int64] { get }
    /// Connections that carry a transfer.
    var connections: Int { get }
    /// Hosts that are left alone for a while.
    var pausedHosts: Int { get }
    var links: NetworkSnapshot { get }
}

/// The state of a run as numbers that no event tells, looked at when a batch's report is made.
final class RunGauges {
    private var lastLook: MonotonicTime?
    private var lastCensus: MonotonicTime?
    private var censuses = 0
    /// The number of a job before which none is open, as far as it's known.
    private var firstOpen: Int64 = 0
    /// The labels of links that have been told.
    private var shown: [QueueMetric: Set<[String]>] = [:]

    /// Batches that report at the same tick have one look in common.
    private static let interval = Duration.milliseconds(400)
    /// The store is asked less often: it has to look for the oldest job.
    private static let censusInterval = Duration.seconds(10)
    /// Jobs become open again by hands that tell nobody: now and then all are looked at.
    private static let censusesFromTheStart = 12

    /// Something was told of a batch.
    func heard(_ kind: QueueEvent.Kind, on host: isolated some GaugeHost) {
        guard host.isMeasured else { return }
        let now = MonotonicTime.now
        switch kind {
        case .batchStarted, .commanded:
            firstOpen = 0
            look(now, on: host)
            takeCensus(now, on: host)
        case .batchFinished:
            look(now, on: host)
            takeCensus(now, on: host)
        case .batchProgress:
            if lastLook.map({ now - $0 >= Self.interval }) ?? true { look(now, on: host) }
            if lastCensus.map({ now - $0 >= Self.censusInterval }) ?? true { takeCensus(now, on: host) }
        default: break
        }
    }

    private func look(_ now: MonotonicTime, on host: isolated some GaugeHost) {
        lastLook = now
        host.measure(
            [
                Measurement(.connections, [], .set(Double(host.connections))),
                Measurement(.hostsPaused, [], .set(Double(host.pausedHosts))),
            ] + links(host.links))
    }

    private func links(_ network: NetworkSnapshot) -> [Measurement] {
        guard network.isKnown else { return [] }
        var up: [[String]: Double] = [:]
        var metered: [[String]: Double] = [:]
        let ways = Set(network.waysOut.map(\.name))
        for link in network.links where link.kind != .loopback {
            up[[link.name, "\(link.kind)"]] = ways.contains(link.name) ? 1 : 0
            metered[[link.name]] = link.metering.isMetered ? 1 : 0
        }
        return changes(.linkUp, up) + changes(.linkMetered, metered)
    }

    private func changes(_ metric: QueueMetric, _ values: [[String]: Double]) -> [Measurement] {
        let gone = (shown[metric] ?? []).subtracting(values.keys)
        shown[metric] = Set(values.keys)
        return gone.map { Measurement(metric, $0, .gone) } + values.map { Measurement(metric, $0.key, .set($0.value)) }
    }

    private func takeCensus(_ now: MonotonicTime, on host: isolated some GaugeHost) {
        lastCensus = now
        censuses += 1
        if censuses % Self.censusesFromTheStart == 0 { firstOpen = 0 }
        let (batches, first) = (host.openBatches, firstOpen)
        host.withStore {
            try $0.census(of: batches, from: first)
        } then: { host, census in
            let own = host.reporter.gauges
            own.firstOpen = census.firstOpen
            var measurements = [Measurement(.storeSize, [], .set(Double(census.bytes)))]
            if let oldest = census.oldest {
                measurements.append(Measurement(.oldestQueued, [], .set(Double(oldest) / 1000)))
            } else {
                measurements.append(Measurement(.oldestQueued, [], .gone))
            }
            host.measure(measurements)
        }
    }
}
