import TransferCore
import TransferQueue

/// The columns of a job's row, for the width of the screen: what matters least goes first when it gets narrow.
///
///     …/2026-11-19/orders.parquet  ━━━━━━━━━━╸───  76%  1.21 GiB  38.4 MiB/s    0:08
///
/// Hosts stand at the end where a file comes over several connections: `a.example x4, b.example x2`; before them the
/// machine of the worker that has the job, where there are several: `node-3: a.example x4`.
struct RowLayout: Sendable, Hashable {
    private(set) var name = 0
    private(set) var bar = 0
    private(set) var hasSize = true
    private(set) var hasRate = true
    private(set) var hasETA = true
    /// Columns of the worker and the sources; 0 where the number of connections stands behind the name.
    private(set) var sources = 0

    /// Space, percent.
    private static let percentWidth = 5
    private static let sizeWidth = 2 + 8
    private static let rateWidth = 2 + 10
    private static let etaWidth = 2 + 6
    /// Below these a name can't be told from another, and a bar tells nothing.
    private static let leastName = 18
    private static let leastBar = 8
    private static let mostName = 60
    private static let mostBar = 30
    /// `2 hosts x16`
    private static let leastSources = 11
    private static let mostSources = 48

    /// - Parameter sources: Columns that the longest worker and list of sources would take; 0 where there is none.
    init(width: Int, sources wanted: Int = 0) {
        var hasBar = true
        // In front of the bar (or of the percentage) stand two spaces; the percentage brings one of its own.
        func flexible() -> Int {
            width - Self.percentWidth - (hasSize ? Self.sizeWidth : 0) - (hasRate ? Self.rateWidth : 0)
                - (hasETA ? Self.etaWidth : 0) - (hasBar ? 2 : 1)
        }
        let least = Self.leastName + Self.leastBar
        if flexible() < least { hasETA = false }
        if flexible() < least { hasRate = false }
        if flexible() < least { hasBar = false }
        if !hasBar, flexible() < Self.leastName { hasSize = false }
        var room = flexible()
        // They come out of what the name and the bar have beyond their least.
        let spare = min(Self.mostSources, room - least - 2)
        if wanted > 0, hasETA, spare >= min(wanted, Self.leastSources) {
            sources = min(wanted, spare)
            room -= 2 + sources
        }
        bar = hasBar ? min(Self.mostBar, max(Self.leastBar, min((room + 1) / 3, room - Self.leastName))) : 0
        name = min(Self.mostName, max(4, room - bar))
    }

    func row(_ job: ProgressScreen.ActiveJob, _ charset: Charset) -> StyledLine {
        let progress = job.progress
        let total = progress?.total
        let fraction = total.map { $0 > 0 ? Double(progress?.completed ?? 0) / Double($0) : 1 }
        var line = StyledLine(label(job, charset).padded(name) + (bar > 0 ? "  " : " "))
        for part in ProgressBar.draw(fraction, width: bar, charset: charset).parts {
            line.append(part.text, part.style)
        }
        let percent = total.map { "\(NumberText.percent(progress?.completed ?? 0, of: max(1, $0)))%" }
        var rest = " " + (total == 0 ? "100%" : percent ?? "").rightAligned(4)
        if hasSize {
            rest += "  " + (job.size > 0 || total != nil ? ByteCount.format(job.size) : "").rightAligned(8)
        }
        if hasRate { rest += "  " + state(progress).rightAligned(10) }
        if hasETA { rest += "  " + remaining(progress).rightAligned(6) }
        if sources > 0 {
            rest += "  " + SourceText.row(of: progress, width: sources, charset: charset)
        }
        rest = rest.withoutTrailingSpaces
        // A narrow screen has no bar between the name and nothing.
        guard !rest.isEmpty || bar > 0 else { return StyledLine(line.text.withoutTrailingSpaces) }
        line.append(rest)
        return line
    }

    /// What is said of every line of a job stays where the name gets short.
    private func label(_ job: ProgressScreen.ActiveJob, _ charset: Charset) -> String {
        // A file of several connections says how many, where there is room for that and a name.
        let count = job.progress.map(\.connections) ?? 1
        let mark =
            (count > 1 && sources == 0 && name >= Self.leastName ? " x\(count)" : "")
            + (job.isInsecure ? InsecureJobs.mark : "")
        guard !mark.isEmpty else { return charset.name(job.name, width: name) }
        return charset.name(job.name, width: max(4, name - mark.count)) + mark
    }

    private func state(_ progress: JobProgress?) -> String {
        switch progress?.phase {
        case nil: "connecting"
        case .transferring?: NumberText.rate(progress?.rate ?? 0)
        case let phase?: phase.rawValue
        }
    }

    private func remaining(_ progress: JobProgress?) -> String {
        guard let progress, progress.phase == .transferring, progress.rate > 0, let total = progress.total,
            total > progress.completed
        else { return "" }
        let seconds = (Double(total - progress.completed) / Double(progress.rate)).rounded(.up)
        // More than 99:59:59 wouldn't fit its column, nor would anyone believe it.
        return seconds < 36_000 ? DurationText.clock(.seconds(Int64(seconds))) : "\(Int64(seconds / 3600))h"
    }
}
