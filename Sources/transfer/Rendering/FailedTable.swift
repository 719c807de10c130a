import TransferQueue

/// A failed job as `transfer status BATCH --failed` lists it.
struct FailedJobRow: Sendable, Hashable {
    var job: String
    /// The error's code.
    var code: String
    /// The whole message.
    var reason: String
    /// The HTTP status, when the failure was an answer.
    var status: Int?
    var host: String?
    var attempts: Int
    /// When it's tried again by itself, in milliseconds since 1970.
    var again: Int64?
    var route: JobRoute?
    /// The URL that was asked last.
    var finalURL: String?

    init(
        job: String, code: String, reason: String, status: Int? = nil, host: String? = nil, attempts: Int,
        again: Int64? = nil, route: JobRoute? = nil, finalURL: String? = nil
    ) {
        self.route = route
        self.finalURL = finalURL
        self.job = job
        self.code = code
        self.reason = reason
        self.status = status
        self.host = host
        self.attempts = attempts
        self.again = again
    }

    func named(_ job: String) -> FailedJobRow {
        var row = self
        row.job = job
        return row
    }
}

/// What `transfer status BATCH --failed` writes to standard output.
enum FailedTable {
    /// The reason comes last, as it is the one that may be long.
    static func lines(_ rows: [FailedJobRow], charset: Charset) -> [String] {
        guard !rows.isEmpty else { return ["no failed jobs"] }
        // Only files of watched folders are tried again by themselves.
        let hasAgain = rows.contains { $0.again != nil }
        var columns: [(title: String, alignment: TextTable.Alignment)] = [
            ("JOB", .left), ("HOST", .left), ("ATTEMPTS", .right),
        ]
        if hasAgain { columns.append(("AGAIN", .left)) }
        var table = TextTable(columns + [("REASON", .left)])
        for row in rows {
            var cells = [
                charset.visible(row.job), row.host.map { charset.visible($0) } ?? "-", NumberText.grouped(row.attempts),
            ]
            if hasAgain { cells.append(row.again.map { TimeText.local($0) } ?? "-") }
            table.add(cells + [charset.visible(row.reason)])
        }
        return table.lines
    }

    /// One object a line: `batch`, `id`, `code`, `message`, `attempts`, and where known `url`, `to`, `finalURL`, `status`,
    /// `host` and `again`.
    static func json(batch: String, _ rows: [FailedJobRow]) -> [String] {
        rows.map { row in
            JSONObject.text { object in
                object.field("batch", batch)
                object.field("id", row.job)
                if let places = row.route?.words {
                    object.field("url", places.url)
                    object.field("to", places.to)
                }
                object.optional("finalURL", row.finalURL)
                object.field("code", row.code)
                object.field("message", row.reason)
                object.optional("status", row.status)
                object.optional("host", row.host)
                object.field("attempts", row.attempts)
                object.optional("again", row.again.map { TimeStamp.text($0) })
            }
        }
    }
}
