import TransferCore
import TransferJobs

/// The rules that must hold after every run.
enum Judges {
    static func judge(_ run: Run) -> [String] {
        var faults: [String] = []
        let last = lastEnds(run.events)
        for job in run.scenario.jobs {
            guard let end = last[job.name] else {
                faults.append("\(job.name) has no end")
                continue
            }
            faults += judge(job, end, run).map { "\(job.name): \($0)" }
        }
        let kept = Set(run.scenario.jobs.map(\.place))
        let isUnfinished = last.values.contains { if case .good = $0 { false } else { true } }
        for name in FileText.names(in: run.scenario.folder + "/in") {
            let path = "\(run.scenario.folder)/in/\(name)"
            if !kept.contains(path), !isUnfinished { faults.append("\(name) was left behind") }
        }
        return faults
    }

    /// The last report on a job.
    private enum End {
        case good, failed(TransferError), other
    }

    private static func lastEnds(_ events: [QueueEvent.Kind]) -> [String: End] {
        var ends: [String: End] = [:]
        for event in events {
            switch event {
            case .finished(let receipt), .kept(let receipt): ends[receipt.job] = .good
            case .failed(let failure): ends[failure.job] = .failed(failure.error)
            case .cancelled(let job): ends[job] = .other
            case .skipped(let job, _): ends[job] = .other
            default: break
            }
        }
        return ends
    }

    private static func judge(_ job: Scenario.Job, _ end: End, _ run: Run) -> [String] {
        switch job.work {
        case .download(let server, let path):
            let versions = run.scenario.network.servers[server]?.files[path]?.versions ?? []
            let bytes = FileText.read(job.place)
            if case .good = end, bytes == nil { return ["finished, and there is no file"] }
            guard let bytes else { return [] }
            return versions.contains { $0.bytes == bytes }
                ? [] : ["the file is no version of its server's (\(bytes.count) bytes)"]
        case .upload(let server, let path, let method):
            let model = run.scenario.network.servers[server]
            let arrivals = model?.arrivals.filter { $0.path == path } ?? []
            var faults: [String] = []
            if arrivals.contains(where: { $0.body != job.bytes }) { faults.append("other bytes arrived") }
            if case .good = end, arrivals.isEmpty { faults.append("finished, and nothing arrived") }
            if method == "POST", arrivals.count > 1, !isSaid(job.name, run.events) {
                faults.append("arrived \(arrivals.count) times, and no report says so")
            }
            return faults
        }
    }

    /// Whether a report says that the job's file may have arrived, or is sent again.
    private static func isSaid(_ job: String, _ events: [QueueEvent.Kind]) -> Bool {
        events.contains { event in
            switch event {
            case .restarted(let name, _): name == job
            case .failed(let failure): failure.job == job && failure.error.code == .mayHaveBeenSent
            case .commanded(.retry, let name): name == nil || name == job
            default: false
            }
        }
    }
}
