import ArgumentParser
import Glibc
import TransferCore
import TransferEngine
import TransferQueue

/// What a run would do: everything is checked, nothing is changed and no server is asked.
struct DryRun {
    let files: [String]
    let directory: String
    let name: String?
    let state: String?

    func run() throws {
        let checker = try JobChecker()
        let known = try Composition.remote(existingState: state)
        var isFaulty = false
        for file in files {
            let source = try JobFileSource(file)
            let spec = source.batch()
            let name = self.name ?? spec.name ?? source.realPath
            let lines = try LineSpool()
            let folders = FolderBox()
            let complete = try known?.completed(batch: name) ?? []
            let shown = BatchNames([name]).short(name)
            let report = try checker.check(name, directory: directory) { take in
                try source.read(directory: directory, watch: folders.add) { spec, place in
                    try take(spec, place)
                    try lines.add(line(spec, complete))
                }
            }
            if report.isEmpty {
                for warning in report.warnings { StandardError.write("\(file): warning: \(warning)\n") }
                print("\(shown): \(lines.count) jobs")
                try lines.read { print("  " + $0) }
                for spec in folders.specs { print("  " + Self.line(spec)) }
            } else {
                isFaulty = true
                StandardError.write(report.rendered(file: file))
            }
        }
        if isFaulty { ExitStatus.exit(.invalidJobFile) }
    }

    /// `watch  /srv/out -> https://files.example/in/{path}, then delete`
    private static func line(_ spec: WatchSpec) -> String {
        let (then, folder): (String, String) =
            switch spec.then {
            case .keep: ("", "")
            case .delete: (", then delete", "")
            case .move(let destination): (", then move to ", destination)
            }
        let age = spec.keepFor.map { " after \(DurationText.words($0))" } ?? ""
        return "watch  \(spec.folder) -> \(Redaction.url(spec.url))\(then)\(folder)\(age)"
    }

    private func line(_ spec: JobSpec, _ complete: Set<String>) -> String {
        let needs = spec.needs.isEmpty ? "" : ", after \(spec.needs.joined(separator: ", "))"
        switch spec.work {
        case .upload(let upload):
            let verb = complete.contains(spec.identity) ? "keep (sent before)" : "send"
            let path = upload.source.hasPrefix("/") ? upload.source : directory + "/" + upload.source
            let isMissing = spec.needs.isEmpty && access(path, R_OK) != 0
            let reason = isMissing ? ", which can't be read: \(String(cString: strerror(errno)).lowercased())" : ""
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
            return "go on from \(ByteCount.format(Int64(status.st_size)))"
        }
        return "fetch"
    }
}
