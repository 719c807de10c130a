import TransferCore
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
    /// The time of the automatic retry, in milliseconds since 1970.
    var again: Int64?
    var route: JobRoute?
    /// The URL of the last request.
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

/// The output of `transfer status BATCH --failed`.
enum FailedTable {
    /// Returns the table. The reason is the last column, as it may be long.
    ///
    /// - Parameter width: The columns of the terminal; `nil` for output of any width.
    static func lines(_ rows: [FailedJobRow], charset: Charset, width: Int? = nil) -> [String] {
        guard !rows.isEmpty else { return ["no failed jobs"] }
        // Only files of watched folders are retried automatically.
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
        return table.lines(width: width)
    }

    /// Returns one object a line.
    ///
    /// The members are `batch`, `id`, `code`, `message`, `attempts`, and where known `url`, `to`, `finalURL`, `status`,
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
