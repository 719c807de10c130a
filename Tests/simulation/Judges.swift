import TransferCore
import TransferJobs

/// The rules that must hold after every run.
struct Judges {
    let scenario: Scenario
    /// The reports of all processes.
    let events: [QueueEvent.Kind]
    /// The end of each job that has one.
    let ends: [String: End]
    /// The jobs that a person let start again.
    var retried: Set<String> = []
    /// Whether a worker may have touched its files after others had taken its jobs over.
    var hasStaleWorkers = false

    /// The end of a job.
    enum End {
        case good, failed(TransferError), other
    }

    var faults: [String] {
        var faults: [String] = []
        for job in scenario.jobs {
            guard let end = ends[job.name] else {
                faults.append("\(job.name) has no end")
                continue
            }
            faults += judge(job, end).map { "\(job.name): \($0)" }
        }
        let kept = Set(scenario.jobs.map(\.place))
        let isUnfinished = ends.values.contains { if case .good = $0 { false } else { true } }
        for name in FileText.names(in: scenario.folder + "/in") {
            let path = "\(scenario.folder)/in/\(name)"
            if !kept.contains(path), !isUnfinished, !hasStaleWorkers { faults.append("\(name) was left behind") }
        }
        return faults
    }

    static func lastEnds(_ events: [QueueEvent.Kind]) -> [String: End] {
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

    private func judge(_ job: Scenario.Job, _ end: End) -> [String] {
        // No scenario has a reason for these.
        if case .failed(let error) = end,
            error.code == .internalFault || error.code == .fileLocked && !hasStaleWorkers
        {
            return ["failed with \(error)"]
        }
        return judgeBytes(job, end)
    }

    private func judgeBytes(_ job: Scenario.Job, _ end: End) -> [String] {
        switch job.work {
        case .download(let server, let path):
            let versions = scenario.network.servers[server]?.files[path]?.versions ?? []
            let bytes = FileText.read(job.place)
            if case .good = end, bytes == nil { return ["finished, and there is no file"] }
            guard let bytes else { return [] }
            return versions.contains { $0.bytes == bytes }
                ? [] : ["the file is no version of its server's (\(bytes.count) bytes)"]
        case .upload(let server, let path, let method):
            let model = scenario.network.servers[server]
            let arrivals = model?.arrivals.filter { $0.path == path } ?? []
            var faults: [String] = []
            if arrivals.contains(where: { $0.body != job.bytes }) { faults.append("other bytes arrived") }
            if case .good = end, arrivals.isEmpty { faults.append("finished, and nothing arrived") }
            if ["POST", "tus"].contains(method), arrivals.count > 1, !isSaid(job.name, end) {
                faults.append("arrived \(arrivals.count) times, and no report says so")
            }
            if method == "s3", case .good = end, model?.s3.objects[path]?.bytes != job.bytes {
                faults.append("finished, and the object is another one")
            }
            return faults
        }
    }

    /// Whether a report says that the job's file may have arrived, or is sent again.
    private func isSaid(_ job: String, _ end: End) -> Bool {
        if case .failed(let error) = end, error.code == .mayHaveBeenSent { return true }
        return retried.contains(job)
            || events.contains { event in
                switch event {
                case .restarted(let name, _): name == job
                // The person who cancelled it runs the job file again.
                case .cancelled(let name): name == job
                case .failed(let failure): failure.job == job && failure.error.code == .mayHaveBeenSent
                case .commanded(.retry, let name): name == nil || name == job
                default: false
                }
            }
    }
}
