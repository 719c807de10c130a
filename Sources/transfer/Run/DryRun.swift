import ArgumentParser
import Glibc
import TransferCore
import TransferEngine
import TransferQueue

/// A dry run: everything is checked, nothing is changed and no server is asked.
struct DryRun {
    let sources: [JobFileSource]
    let directory: String
    let name: String?
    let state: String?
    /// Whether the run would add the jobs to a queue that many machines share.
    var isShared = false

    func run() throws {
        let checker = try JobChecker(isShared: isShared)
        let known = try Composition.remote(existingState: state)
        var isFaulty = false
        for source in sources {
            let file = source.name
            let spec = source.batch()
            let name = self.name ?? spec.name ?? source.realPath
            let lines = try LineSpool()
            var listed = ListedJobs()
            let folders = FolderBox()
            let plan = JobPlan(directory: directory)
            let complete = try known?.completed(batch: name) ?? []
            let shown = BatchNames([name]).short(name)
            let report = try checker.check(name, directory: directory) { take in
                try source.read(directory: directory, watch: folders.add) { spec, place in
                    try take(spec, place)
                    if !listed.notes(spec, place) { try lines.add(plan.line(spec, complete)) }
                }
            }
            if report.isEmpty {
                for warning in report.warnings { StandardError.write("\(file): warning: \(warning)\n") }
                print("\(shown): \(NumberText.count(lines.count, "job"))")
                try lines.read { print("  " + $0) }
                for spec in folders.specs { print("  " + Self.line(spec)) }
            } else {
                isFaulty = true
                StandardError.write(report.rendered(file: file))
            }
        }
        if isFaulty { ExitStatus.exit(.invalidJobFile) }
    }

    /// Returns a line such as `watch /srv/out -> https://files.example/in/{path}, then delete`.
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
}
