import Foundation

/// The table in the repository with the outcome of each cell.
struct MatrixTable: Sendable, Equatable {
    /// The texts by the names of the cells.
    private(set) var texts: [String: String] = [:]

    static let path = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        .appendingPathComponent("../../matrix/MATRIX.md").standardized.path

    init(_ texts: [String: String] = [:]) { self.texts = texts }

    static func committed() throws -> MatrixTable {
        var texts: [String: String] = [:]
        var way = ""
        for line in try String(contentsOfFile: path, encoding: .utf8).split(separator: "\n") {
            if line.hasPrefix("## ") { way = String(line.dropFirst(3)) }
            guard line.hasPrefix("| "), let last = line.dropFirst(2).range(of: " |", options: .backwards) else {
                continue
            }
            let columns = line.dropFirst(2)[..<last.lowerBound].components(separatedBy: " | ")
            guard columns.count == 5 else { continue }
            for (moment, text) in zip(MatrixMoment.allCases, columns.dropFirst()) {
                texts["\(way) × \(columns[0]) × \(moment.rawValue)"] = text
            }
        }
        return MatrixTable(texts)
    }

    mutating func set(_ cell: MatrixCell, _ text: String) { texts[cell.name] = text }

    func text(_ cell: MatrixCell) -> String? { texts[cell.name] }

    /// - Parameter cells: All cells in order, including those that are left out.
    func document(_ cells: [MatrixCell]) -> String {
        let run = cells.count { $0.leftOut == nil }
        var lines = Self.preface(run, leftOut: cells.count - run)
        var reasons: [String] = []
        for way in MatrixWay.allCases {
            lines += ["", "## \(way.rawValue)", ""]
            lines.append(
                "| what the server does | " + MatrixMoment.allCases.map(\.rawValue).joined(separator: " | ") + " |")
            lines.append("|---|---|---|---|---|")
            let own = cells.filter { $0.way == way }
            for start in stride(from: 0, to: own.count, by: MatrixMoment.allCases.count) {
                let row = own[start..<start + MatrixMoment.allCases.count]
                let texts = row.map { cell -> String in
                    guard let reason = cell.leftOut else { return text(cell) ?? "" }
                    if !reasons.contains(reason) { reasons.append(reason) }
                    return "– (\((reasons.firstIndex(of: reason) ?? 0) + 1))"
                }
                lines.append("| \(own[start].fault) | " + texts.joined(separator: " | ") + " |")
            }
        }
        lines += ["", "## What is left out", ""]
        for (number, reason) in reasons.enumerated() { lines.append("\(number + 1). \(reason)") }
        lines += Self.elsewhere
        return lines.joined(separator: "\n") + "\n"
    }

    private static func preface(_ run: Int, leftOut: Int) -> [String] {
        [
            "# The matrix", "",
            "`make matrix` writes this table; do not edit it. \(run) cells are run, \(leftOut) are left out for the",
            "reasons below. A cell is one transfer by the queue, to or from a server that does one thing wrong at one",
            "moment (once, where it does not say \"for ever\").", "",
            "- **right**: the file is where it belongs, byte by byte; an upload was taken once, or by PUT, the draft and S3 at",
            "  most twice.",
            "- **fails (…)**: a failure with that status or code, which names its reason. Nothing false is at the",
            "  destination, a file that was there before still is, and the bytes that were held are. **then right**: once",
            "  the server is well, the next run ends right and fetches only what is not there.",
            "- **then asked**: nobody can say whether a POST arrived, so it is not sent again by itself.", "",
            "What each cell has to be is a rule of its three axes (`Tests/TransferQueueTests/Matrix`), from RFC 9110 and",
            "the protocols' specifications; the table only says which of the two it was. The number of requests and the",
            "time have bounds in each cell.",
        ]
    }

    private static let elsewhere = [
        "",
        "These have suites of their own, and no cell: TLS and certificates, proxies, host names, redirects to other",
        "origins, passwords, kill −9 (`make torture`), the network's changes, full disks, HTTP/2, answers that come before",
        "their request, and `Content-Encoding`. Downloads by FTP, SFTP and S3 are in the suites of these servers.",
    ]
}
