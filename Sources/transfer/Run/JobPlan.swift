import Glibc
import TransferCore
import TransferEngine
import TransferQueue

/// The plan of a dry run.
struct JobPlan {
    /// The folder in which relative paths begin.
    let directory: String

    /// Returns a line about what a run would do with a job.
    ///
    /// - Parameter complete: The jobs that were complete before.
    func line(_ spec: JobSpec, _ complete: Set<String> = []) -> String {
        let needs = spec.needs.isEmpty ? "" : ", after \(spec.needs.joined(separator: ", "))"
        switch spec.work {
        case .upload(let upload) where upload.from != nil:
            let verb = complete.contains(spec.identity) ? "keep (copied before)" : "copy"
            return "\(verb)  \(upload.source) -> \(Redaction.url(upload.url))\(needs)"
        case .upload(let upload):
            let verb = complete.contains(spec.identity) ? "keep (sent before)" : "send"
            let path = upload.source.hasPrefix("/") ? upload.source : directory + "/" + upload.source
            let isMissing = spec.needs.isEmpty && access(path, R_OK) != 0
            let reason = isMissing ? ", which cannot be read: \(String(cString: strerror(errno)).lowercasedFirst)" : ""
            return "\(verb)  \(upload.source)\(reason) -> \(Redaction.url(upload.url))\(needs)"
        case .download(let download):
            let mirrors = download.urls.count > 1 ? " and \(download.urls.count - 1) more" : ""
            let from = Redaction.url(download.urls[0]) + mirrors
            return "\(verb(spec, download, complete))  \(from) -> \(download.destination)\(needs)"
        }
    }

    private func verb(_ spec: JobSpec, _ download: JobSpec.Download, _ complete: Set<String>) -> String {
        let path = download.destination.hasPrefix("/") ? download.destination : directory + "/" + download.destination
        var status = stat()
        if stat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG {
            if complete.contains(spec.identity) { return "keep" }
            return "exists (ifExists: \(download.ifExists.rawValue))"
        }
        if stat(PartName.path(of: path), &status) == 0 {
            return "continue from \(ByteCount.format(Int64(status.st_size)))"
        }
        return "fetch"
    }
}
