import TransferCore
import TransferQueue

/// The jobs of batches, a line each: any number of jobs with the memory of one page.
struct JobList {
    let batches: [String]
    /// Whether only the jobs that failed for good are listed.
    let failed: Bool
    let remote: QueueRemote

    /// Prints one object a line.
    ///
    /// The members are `batch`, `id`, `state` (as in `transfer why --json`), `url`, `to`, `attempts`, and where known
    /// `finalURL`, `bytes`, `status`, `code`, `message`, `since` and `insecure`.
    func printJSON() throws {
        for batch in batches {
            try remote.jobs(batch: batch, failed: failed) { page in
                for job in page { print(Self.json(job, batch: batch)) }
                return StandardOutput.flush()
            }
        }
    }

    static func json(_ job: ListedJob, batch: String) -> String {
        JSONObject.text { object in
            object.field("batch", batch)
            object.field("id", job.job)
            object.field("state", job.state.name)
            if let places = job.route?.words(path: job.path) {
                object.field("url", places.url)
                object.field("to", places.to)
            }
            object.optional("finalURL", job.finalURL.flatMap { $0.isEmpty ? nil : $0 })
            if job.route?.isInsecure == true { object.field("insecure", true) }
            object.optional("bytes", job.bytes)
            object.field("attempts", job.attempts)
            object.optional("status", job.status)
            object.optional("code", job.code)
            object.optional("message", job.message)
            object.optional("since", job.since.map { TimeStamp.text($0) })
        }
    }

    /// Prints the table.
    ///
    /// - Parameter names: The names of batches, which precede their jobs; `nil` for a single batch.
    func printTable(_ terminal: Terminal, naming names: BatchNames?) throws {
        let charset = terminal.charset
        var table = GrowingTable(
            [
                ("STATE", .left), ("SINCE", .left), ("BYTES", .right), ("ATTEMPTS", .right), ("JOB", .left),
                ("URL, TO, REASON", .left),
            ], width: terminal.tableWidth)
        var isEmpty = true
        for batch in batches {
            let prefix = names.map { $0.short(batch) + "/" } ?? ""
            try remote.jobs(batch: batch, failed: failed) { page in
                isEmpty = false
                for line in table.lines(of: page.map { Self.cells($0, prefix, charset) }) { print(line) }
                return StandardOutput.flush()
            }
        }
        if isEmpty { print(failed ? "no failed jobs" : "no jobs") }
    }

    static func cells(_ job: ListedJob, _ prefix: String, _ charset: Charset) -> [String] {
        var words: [String] = []
        if let places = job.route?.words(path: job.path) {
            words.append(places.url == places.to ? places.url : "\(places.url) -> \(places.to)")
        }
        if let message = job.message { words.append(message) }
        let mark = job.route?.isInsecure == true ? InsecureJobs.mark : ""
        return [
            word(job.state), job.since.map { TimeText.local($0) } ?? "-", job.bytes.map(ByteCount.format) ?? "-",
            NumberText.grouped(job.attempts), charset.visible(prefix + job.job) + mark,
            charset.visible(words.joined(separator: ": ")),
        ]
    }

    private static func word(_ state: JobState) -> String {
        switch state {
        case .queued: "ready"
        case .claimed: "running"
        default: state.name
        }
    }
}

/// A table that is written page by page: its columns get wider where a later page needs that. A page whose columns do
/// not fit the terminal has a block for each row, as with ``TextTable``.
struct GrowingTable {
    private let columns: [TextTable.Column]
    private var widths: [Int]
    private let width: Int?
    private var hasTitle = false

    /// Creates a table.
    ///
    /// - Parameter width: The columns of the terminal; `nil` for output of any width.
    init(_ columns: [TextTable.Column], width: Int? = nil) {
        self.columns = columns
        self.width = width
        widths = columns.map { DisplayWidth.of($0.title) }
    }

    /// Adds rows.
    ///
    /// - Parameter rows: The cells, which are fit to be shown.
    /// - Returns: The lines of the page; those of the first one follow the titles.
    mutating func lines(of rows: [[String]]) -> [String] {
        var grown = widths
        for row in rows { for index in grown.indices { grown[index] = max(grown[index], DisplayWidth.of(row[index])) } }
        if let width, TextTable.width(of: grown) > width {
            return rows.flatMap { TextTable.block($0, columns, width: width) }
        }
        widths = grown
        let titles = hasTitle ? [] : [columns.map(\.title)]
        hasTitle = true
        return (titles + rows).map { TextTable.line($0, columns, widths) }
    }
}
