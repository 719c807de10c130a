import TransferCore

/// The reader of a table of values, separated by commas, semicolons or tabs. Its header names the keys of jobs:
/// `url,to,checksum`.
package struct CSVList: Sendable {
    private struct Column: Sendable {
        var meaning: CSVColumn
        var name: String

        /// Whether the column names the source of the transfer.
        var movesSomething: Bool {
            switch meaning {
            case .source: true
            case .key(let path, _): path == ["upload"]
            default: false
            }
        }
    }

    /// The columns; `nil` before the header. They are empty for an invalid header, after which no row is read.
    private var columns: [Column]?
    /// The beginning of a record that continues in the next line.
    private var open: [UInt8] = []
    private var openLine = 0
    /// The separator; `nil` before the header.
    private var separator: CSVRecord.Separator?
    private let destination: String

    /// Creates a reader.
    ///
    /// - Parameter destination: The destination of URLs whose row names no file.
    package init(destination: String) { self.destination = destination }

    /// Reads a line.
    ///
    /// - Parameters:
    ///   - line: The bytes of the line, without its terminator.
    ///   - number: The line's number, from 1.
    package mutating func read(_ line: [UInt8], number: Int) -> [ListFinding] {
        if open.isEmpty {
            guard CSVRecord.isOpen(line) else { return record(line, number) }
            open = line
            openLine = number
            return []
        }
        open.append(0x0A)
        open += line
        guard open.count < JobFileReader.maxLine else { return finish() }
        guard !CSVRecord.isOpen(open) else { return [] }
        defer { open = [] }
        return record(open, openLine)
    }

    /// Ends the table.
    package mutating func finish() -> [ListFinding] {
        guard !open.isEmpty else { return [] }
        defer { open = [] }
        return record(open, openLine)
    }

    private mutating func record(_ bytes: [UInt8], _ line: Int) -> [ListFinding] {
        guard String(validating: bytes, as: UTF8.self) != nil else {
            return [.fault(ListPlace(0..<1, in: bytes, number: line, isSecret: true).fault("invalid UTF-8"))]
        }
        let record: CSVRecord
        do throws(CSVRecord.Fault) {
            if columns == nil, let declared = CSVRecord.Separator(declaredBy: Self.text(bytes)) {
                separator = declared
                return []
            }
            let separator = separator ?? CSVRecord.Separator(header: bytes)
            record = try CSVRecord(bytes, separator: separator)
            if columns == nil, !record.isBlank, bytes.first != UInt8(ascii: "#") { self.separator = separator }
        } catch {
            return [.fault(ListPlace(error.range, in: bytes, number: line, isSecret: true).fault(error.message))]
        }
        guard !record.isBlank else { return [] }
        guard let columns else {
            // Some tools write comments above the header.
            if bytes.first == UInt8(ascii: "#") { return [] }
            return header(record, bytes, line)
        }
        return columns.isEmpty ? [] : row(record, columns, bytes, line)
    }

    /// Returns a line without its carriage return.
    private static func text(_ bytes: [UInt8]) -> String {
        String(decoding: bytes.last == 0x0D ? bytes.dropLast() : bytes[...], as: UTF8.self)
    }

    private mutating func header(_ record: CSVRecord, _ bytes: [UInt8], _ line: Int) -> [ListFinding] {
        var found: [ListFinding] = []
        var columns: [Column] = []
        var names: Set<String> = []
        func fault(_ message: String, _ cell: CSVRecord.Cell) {
            found.append(.fault(ListPlace(cell.range, in: bytes, number: line).fault(message)))
        }
        self.columns = []
        if record.cells.count == 1, let cell = record.cells.first, cell.text.contains(where: { "|:".contains($0) }) {
            fault("columns have commas, semicolons or tabs between them", cell)
            return found
        }
        for cell in record.cells {
            do throws(CSVColumn.Refusal) {
                let meaning = try CSVColumn(cell.text)
                columns.append(Column(meaning: meaning, name: cell.text))
                switch meaning {
                case .leftOut: if !cell.text.isEmpty { found.append(.leftOut(cell.text, line: line)) }
                case .source: break
                case .key, .digest:
                    if !names.insert(cell.text.lowercased()).inserted {
                        fault("two columns are \(Wording.quoted(cell.text))", cell)
                    }
                }
            } catch {
                fault(error.message, cell)
            }
        }
        let isFaulty = found.contains { if case .fault = $0 { true } else { false } }
        if !isFaulty, !columns.contains(where: \.movesSomething), let cell = record.cells.first {
            fault("the first line names the columns, and one of them is url (or upload, with to)", cell)
            return found
        }
        if !isFaulty { self.columns = columns }
        return found
    }

    private func row(
        _ record: CSVRecord, _ columns: [Column], _ bytes: [UInt8], _ line: Int
    ) -> [ListFinding] {
        let isSecret =
            bytes.contains(UInt8(ascii: "@"))
            || columns.contains { if case .key(_, .secret) = $0.meaning { true } else { false } }
        func place(_ cell: CSVRecord.Cell) -> ListPlace {
            ListPlace(cell.range, in: bytes, number: line, isSecret: isSecret)
        }
        if let extra = record.cells.dropFirst(columns.count).first(where: { !$0.text.isEmpty }) {
            let message =
                "a row of \(CountText.words(record.cells.count, "cell")), and the header has \(columns.count); "
                + "a \((separator ?? .comma).name) in a cell needs quotes"
            return [.fault(place(extra).fault(message))]
        }
        var draft = ListDraft(at: record.cells.first.map(place) ?? ListPlace(SourceSpan(line: line, column: 1)))
        var sources: [String] = []
        var faults: [ListFinding] = []
        for (cell, column) in zip(record.cells, columns) where !cell.text.isEmpty {
            switch column.meaning {
            case .leftOut: break
            case .source:
                let advice = "columns auth.user and auth.password.env, or auth.netrc, say who logs in"
                if let refusal = URLRule.refusal(of: cell.text, advice: advice) {
                    faults.append(.fault(place(cell).fault(refusal.message)))
                }
                if sources.isEmpty { draft.place = place(cell) }
                sources.append(cell.text)
                draft.set(["download"], .strings(sources), at: draft.place)
            case .digest(let algorithm): draft.set(["checksum"], .string("\(algorithm):\(cell.text)"), at: place(cell))
            case .key(let path, .secret):
                let message =
                    "a secret is named, never written: a column \(path.joined(separator: ".")).env has the name of its variable"
                faults.append(.fault(place(cell).fault(message)))
            case .key(let path, let kind): draft.set(path, Self.value(cell.text, kind), at: place(cell))
            }
        }
        guard faults.isEmpty else { return faults }
        if !sources.isEmpty, !draft.has(["to"]) { draft.set(["to"], .string(destination), at: draft.place) }
        return [.job(draft)]
    }

    private static func value(_ text: String, _ kind: CSVColumn.Kind) -> ListDraft.Value {
        switch kind {
        case .text, .secret: .string(text)
        case .number: Int(text).map { .integer($0) } ?? .string(text)
        case .choice:
            ["true", "false"].contains(text.lowercased()) ? .boolean(text.lowercased() == "true") : .string(text)
        case .words: .strings(text.split(separator: " ").map(String.init))
        }
    }
}
