import TransferCore
import TransferQueue

/// The jobs that failed, as a job file of lines.
struct FailedList {
    private let statuses: [BatchStatus]
    private let remote: QueueRemote

    init(_ statuses: [BatchStatus], _ remote: QueueRemote) {
        self.statuses = statuses
        self.remote = remote
    }

    /// Writes it to standard output. Jobs whose secrets were never stored can't be done by it, which is told.
    func write() throws {
        print(#"{"version": 1}"#)
        for status in statuses {
            try remote.jobs(batch: status.name, failed: true) { page in
                for failure in page { write(failure, of: status) }
                return StandardOutput.flush()
            }
        }
    }

    private func write(_ failure: ListedJob, of status: BatchStatus) {
        guard var job = failure.route?.job else {
            return StandardError.write("transfer: \(failure.job): its record can't be read any more; left out\n")
        }
        guard !job.canonicalJSON.contains(Redaction.mark) else {
            return StandardError.write(
                "transfer: \(failure.job): its URL or headers hold a secret that is never stored; left out\n")
        }
        // The list may be run from anywhere, and what the job needed was done or failed itself.
        let paths = AbsolutePaths(from: status.directory)
        job.work = Self.absolute(job.work, paths)
        job.settings = paths.settings(job.settings)
        job.needs = []
        // Another batch of the list may have one of that name.
        job.id = nil
        if case .download(var download) = job.work {
            // A name's braces aren't those of a template.
            download.destination = DestinationNames.escaped(download.destination)
            job.work = .download(download)
        }
        print(job.canonicalJSON)
    }

    private static func absolute(_ work: JobSpec.Work, _ paths: AbsolutePaths) -> JobSpec.Work {
        switch work {
        case .download(var download):
            // A name's braces aren't those of a template.
            download.destination = DestinationNames.escaped(paths.absolute(download.destination))
            return .download(download)
        case .upload(var upload):
            if upload.from == nil { upload.source = paths.absolute(upload.source) }
            return .upload(upload)
        }
    }
}
