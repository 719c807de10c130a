import ArgumentParser
import FoundationEssentials
import Glibc
import TransferCore
import TransferQueue

struct Validate: ParsableCommand {
    static let configuration = CommandConfiguration(
        abstract: "Check job files without starting jobs: every fault is shown with its line, column and JSON path.")

    @Argument(help: ArgumentHelp("The job files to check.", valueName: "file"), completion: .file())
    var files: [String]

    @Option(
        name: .shortAndLong, help: ArgumentHelp("The folder that relative paths start from.", valueName: "dir"),
        completion: .directory, transform: PathArgument.text)
    var directory: String?

    @OptionGroup var list: ListOptions
    @OptionGroup var hooks: HookOptions
    @OptionGroup var set: ConfigurationOptions

    func run() throws {
        let hooks = Composition.hooks(hooks, try set.load())
        let checker = try JobChecker(isShared: true)
        let folder = Composition.absolute(directory ?? FileManager.default.currentDirectoryPath)
        var isFaulty = false
        for file in files {
            var rules = list.rules()
            rules.documents.asksNoServer = true
            let source = try JobFileSource(file, list: rules, hooks: hooks)
            let missing = ReportBox()
            var made = Set<String>()
            var watched = 0
            var restarting = 0
            var listed = ListedJobs()
            var report = try checker.check(file, directory: folder) { take in
                try source.read(directory: folder, watch: { _, _ in watched += 1 }) { spec, place in
                    try take(spec, place)
                    if listed.notes(spec, place) { return }
                    if spec.beginsAgain { restarting += 1 }
                    if case .download(let download) = spec.work {
                        made.insert(Self.absolute(download.destination, folder))
                    }
                    if let fault = Self.missingSource(spec, place, folder, made) { missing.add(fault) }
                }
            }
            for fault in missing.report.faults { report.add(fault) }
            if restarting > 0 {
                StandardError.write(
                    "\(file): note: what is broken off begins again from its start, as the destination keeps no part, in "
                        + "\(NumberText.count(restarting, "copy job"))\n")
            }
            if report.isEmpty {
                let folders = watched > 0 ? ", \(NumberText.count(watched, "watched folder"))" : ""
                for warning in report.warnings { StandardError.write("\(file): warning: \(warning)\n") }
                print("\(file): \(NumberText.count(report.jobCount - listed.repeated, "job"))\(folders), no errors")
            } else {
                isFaulty = true
                StandardError.write(report.rendered(file: file))
            }
        }
        if isFaulty { ExitStatus.exit(.invalidJobFile) }
    }

    /// Returns the fault of a missing file to upload, unless an earlier job brings it.
    private static func missingSource(
        _ spec: JobSpec, _ place: JobLocations, _ folder: String, _ made: Set<String>
    ) -> JobFileFault? {
        guard case .upload(let upload) = spec.work, upload.from == nil else { return nil }
        let path = absolute(upload.source, folder)
        guard access(path, R_OK) != 0, !made.contains(path), spec.needs.isEmpty else { return nil }
        let reason = String(cString: strerror(errno)).lowercasedFirst
        return JobFileFault(
            message: "cannot read \(upload.source): \(reason)", path: place.path(of: "upload"), span: place.job)
    }

    private static func absolute(_ path: String, _ folder: String) -> String {
        path.hasPrefix("/") ? path : folder + "/" + path
    }
}
