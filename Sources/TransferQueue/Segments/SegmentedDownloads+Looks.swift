import TransferCore
import TransferEngine
import TransferEventLoop
import TransferScheduling

// The number of connections of a file, which is reviewed a few times a second while the file is fetched.
extension SegmentedDownloads {
    private static let stalled = TransferError(
        .timedOut, "nothing came while others brought something", isTransient: true)

    private static let unanswered = TransferError(
        .timedOut, "no answer within \(mirrorPatience.components.seconds) s, and there are further mirrors",
        isTransient: true)

    func schedule(on host: isolated some SegmentHost) {
        let timer = host.timer(.segments)
        if !timer.isScheduled { timer.schedule(at: .now + (isGrowing ? Self.interval.growing : Self.interval.later)) }
    }

    /// Reviews the rates, and whether other jobs need the connections.
    func tick(on host: isolated some SegmentHost) {
        var isNeeded = false
        isGrowing = false
        for job in host.jobs {
            guard job.stop == nil, case .transferring(let handle) = job.phase else { continue }
            if job.start == nil, job.record.hasFurtherMirrors {
                isNeeded = true
                if .now - job.started >= Self.mirrorPatience { handle.cancel(Self.unanswered) }
            }
            guard job.segments?.isDivisible == true else { continue }
            isNeeded = true
            look(job, on: host)
            if let began = job.segments?.leadBegan?.time, .now - began < Self.growingTime { isGrowing = true }
            if let segments = job.segments { tellSources(job, segments, now: .now, on: host) }
        }
        if isNeeded { schedule(on: host) }
    }

    func look(_ job: RunningJob, on host: isolated some SegmentHost) {
        guard let segments = job.segments, job.stop == nil, segments.phase != .preparing, let total = job.meter.total,
            case .transferring(let handle) = job.phase
        else { return }
        let now = MonotonicTime.now
        let position = job.meter.position
        stopStalled(job, segments, now)
        segments.measureSources(now: now)
        let path = segments.path.take()
        if let path { segments.measureWay(path, now: now) }
        var wanted = segments.growth.sample(
            now: now.inSeconds, bytes: position, left: total - position,
            worked: handle.workedTime, connections: segments.count, path: path,
            bound: segments.file.limiters.lazy.map(\.rate).min() ?? .infinity)
        let spare = host.spareConnections(to: job.candidate.lane.origin)
        if wanted > segments.count { wanted = min(wanted, segments.count + max(0, spare)) }
        if spare < 0, segments.count > 1 {
            wanted = max(1, segments.count + spare)
            segments.growth.yields(to: wanted)
        }
        if wanted < segments.count { return close(segments.count - wanted, of: segments) }
        guard wanted > segments.count || !(segments.file.map?.unclaimed.isEmpty ?? true) else { return }
        guard segments.phase == .open else {
            if let start = job.start, position > 0 { divide(job, segments, start, total, on: host) }
            return
        }
        fill(job, segments, upTo: wanted, on: host)
    }

    /// Returns a record of a file that is being divided, without its ranges.
    private static func record(
        _ job: RunningJob, _ ready: ReadyDownload, _ start: BodyStart, _ total: Int64
    ) -> ResumeData {
        let earlier = start.continued > 0 ? ready.earlier : nil
        var record = ResumeData(
            url: Redaction.url(job.url), validator: Validator(start.head) ?? earlier?.validator, total: total,
            synced: ByteRanges(0..<min(ready.synced, start.continued)), bootID: BootID.current, isSequential: false)
        record.place = start.place
        record.mediaType = start.head.mediaType ?? earlier?.mediaType
        record.adopted = earlier?.adopted
        return record
    }

    /// Makes the map of a file that only one exchange has filled so far.
    private func divide(
        _ job: RunningJob, _ segments: SegmentedJob, _ start: BodyStart, _ total: Int64,
        on host: isolated some SegmentHost
    ) {
        guard case .download(let ready) = job.ready else { return }
        let id = job.candidate.id
        let record = Self.record(job, ready, start, total)
        segments.phase = .preparing
        engine.workers.execute { [file = segments.file, meter = job.meter, host] in
            file.split(record, at: meter.position, total: total) { error in
                host.loop.execute {
                    host.onLoop { host in
                        guard let job = host.underWay(id), let segments = job.segments, segments.file === file else {
                            return
                        }
                        host.segmented.divided(job, segments, error, on: host)
                        host.pump()
                    }
                }
            }
        }
    }

    private func divided(
        _ job: RunningJob, _ segments: SegmentedJob, _ error: TransferError?, on host: isolated some SegmentHost
    ) {
        segments.phase = .open
        if error != nil {
            segments.isDivisible = false
            segments.phase = .single
        }
        guard let lead = segments.lead else { return look(job, on: host) }
        guard error == nil else {
            (job.segments, job.file) = (nil, nil)
            return host.exchangeEnded(job, lead)
        }
        leadIsOver(job, segments, lead, on: host)
    }

    private func stopStalled(_ job: RunningJob, _ segments: SegmentedJob, _ now: MonotonicTime) {
        guard let map = segments.file.map else { return }
        if let lead = segments.file.lead, let claim = map.claims[lead], case .transferring(let handle) = job.phase {
            if segments.leadMoved.map({ $0.position < claim.position }) ?? true {
                segments.leadMoved = (claim.position, now)
            } else if let moved = segments.leadMoved, now - moved.time >= Self.stall,
                segments.count > 1 || segments.received > 0
            {
                // Other connections showed that the server delivers, so the rest of this part is requested anew.
                handle.cancel(.partDone)
            }
        }
        for (number, connection) in segments.connections {
            guard let claim = map.claims[number] else {
                // The first connection took the part over before any byte of it came.
                if !connection.isStopped {
                    segments.connections[number]?.isStopped = true
                    connection.handle.cancel(.partDone)
                }
                continue
            }
            if claim.position > connection.position {
                if connection.position == connection.start, segments.way.start == 0 {
                    segments.way.start = (now - connection.since).inSeconds
                }
                segments.connections[number]?.position = claim.position
                segments.connections[number]?.lastMoved = now
            } else if now - connection.lastMoved >= Self.stall, !connection.isStopped,
                segments.count > 1 || segments.sources.isBetter(than: connection.source)
            {
                segments.connections[number]?.isStopped = true
                connection.handle.cancel(Self.stalled)
            }
        }
    }

    /// Takes the last part from a much slower connection when no other part is left.
    func stopSlowest(
        _ job: RunningJob, _ segments: SegmentedJob, _ map: RangeMap, faster source: Int, _ now: MonotonicTime
    ) {
        guard let rate = segments.sources[source].rate else { return }
        let rates = segments.rates(map, now: now)
        if let lead = segments.file.lead, let claim = map.claims[lead], let own = rates[lead], own * 4 < rate,
            Double(claim.left) / max(1, own) > 1, case .transferring(let handle) = job.phase
        {
            handle.cancel(.partDone)
        }
        for (number, connection) in segments.connections where !connection.isStopped {
            // A young connection has not shown its rate yet.
            guard now - connection.since >= Self.proving, let claim = map.claims[number], let own = rates[number],
                own * 4 < rate,
                Double(claim.left) / max(1, own) > 1
            else { continue }
            segments.connections[number]?.isStopped = true
            // A connection that has brought nothing counts as failed, so that it is not asked again at once.
            let isMute = claim.position == connection.start
            connection.handle.cancel(isMute ? Self.stalled : .partDone)
        }
    }

    /// Ends this many connections, those of slow sources first. Other connections fetch the rest of their parts.
    func close(_ count: Int, of segments: SegmentedJob) {
        let open = segments.connections.filter { !$0.value.isStopped }
        let order = open.sorted { one, other in
            let (a, b) = (segments.sources.isSlow(one.value.source), segments.sources.isSlow(other.value.source))
            return a != b ? a : one.key > other.key
        }
        for (number, connection) in order.prefix(max(0, count - (segments.connections.count - open.count))) {
            segments.connections[number]?.isStopped = true
            connection.handle.cancel(.partDone)
        }
    }
}

extension MonotonicTime {
    /// The time since the machine's start, in seconds.
    var inSeconds: Double { Double(nanoseconds) / 1e9 }
}
