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
    let rules: RequestRules
    let list: ListRules
    let state: String?
    var hooks = HookSettings()

    func run() throws {
        let checker = try JobChecker()
        let known = try Composition.remote(existingState: state)
        var isFaulty = false
        for file in files {
            let source = try JobFileSource(file, rules: rules, list: list, hooks: hooks)
            let spec = source.batch()
            let name = self.name ?? spec.name ?? source.realPath
            let lines = try LineSpool()
            let folders = FolderBox()
            let plan = JobPlan(directory: directory)
            let complete = try known?.completed(batch: name) ?? []
            let shown = BatchNames([name]).short(name)
            let report = try checker.check(name, directory: directory) { take in
                try source.read(directory: directory, watch: folders.add) { spec, place in
                    try take(spec, place)
                    try lines.add(plan.line(spec, complete))
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
}
