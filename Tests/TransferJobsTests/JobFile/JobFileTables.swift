import Foundation

@testable import TransferJobs

/// The parts of the schema, of the manual page and of the article that are generated from the table of a job's keys.
///
/// `make tables` writes them; a test compares.
struct JobFileTables {
    let fields: JobFields

    private var rows: [JobField] { fields.rows }

    // MARK: The schema

    /// - Parameter file: The schema. Definitions that are not generated from the table are kept.
    func schema(_ file: String) -> String {
        let lines = file.components(separatedBy: "\n")
        guard let start = lines.firstIndex(of: "  \"$defs\": {"),
            let end = lines[start...].firstIndex(of: "  }")
        else { return file }
        var kept: [(name: String, lines: [String])] = []
        for line in lines[start + 1..<end] {
            if let match = line.firstMatch(of: #/^ {4}"([^"]+)":/#) { kept.append((String(match.1), [])) }
            kept[kept.count - 1].lines.append(line)
        }
        var made = definitions
        let watch = kept.first { $0.name == "watch" }?.lines ?? []
        made.append(("watch", self.watch(watch)))
        var texts: [String] = []
        for (name, lines) in kept {
            // New definitions stand before the blocks that refer to them.
            if name == "defaults" {
                texts += made.filter { one in !kept.contains { $0.name == one.name } }.map(\.text)
            }
            let own = lines.joined(separator: "\n")
            texts.append(
                made.first { $0.name == name }?.text ?? (own.hasSuffix(",") ? String(own.dropLast()) : own))
        }
        return
            (lines[...start] + [texts.joined(separator: ",\n")] + lines[end...]).joined(separator: "\n")
    }

    private typealias Definition = (name: String, text: String)

    private var definitions: [Definition] {
        var result: [Definition] = []
        for row in rows {
            if let object = row.about.object {
                result.append(
                    (object.name, definition(object, row.key == object.name ? row.about.summary : nil)))
                if row.key == object.name { continue }
            }
            if isShared(row) { result.append((row.key, definition(row))) }
        }
        result.append(("defaults", block("defaults", rows.filter { $0.places.contains(.defaults) }.map(property))))
        result.append(("job", job))
        return result
    }

    /// Decides whether several blocks refer to the row's definition.
    private func isShared(_ row: JobField) -> Bool { !row.places.isEmpty && row.key != "to" }

    private func members(_ about: FieldNote, isUnsettable: Bool = false) -> String {
        let schema = isUnsettable ? Self.orNull(about.schema) : about.schema
        var parts = ["\"description\": \(text(about.summary))", schema]
        if let standard = about.standard, standard != "[]" { parts.append("\"default\": \(standard)") }
        return parts.joined(separator: ", ")
    }

    private static func orNull(_ schema: String) -> String {
        "\"anyOf\": [{ \(schema) }, { \"type\": \"null\" }]"
    }

    private func definition(_ row: JobField) -> String {
        let line = "    \"\(row.key)\": { \(members(row.about)) }"
        if line.count <= 120 { return line }
        let standard = row.about.standard.map { ", \"default\": \($0)" } ?? ""
        return """
                "\(row.key)": {
                  "description": \(text(row.about.summary)),
                  \(row.about.schema)\(standard)
                }
            """
    }

    private func definition(_ object: ObjectNote, _ summary: String?) -> String {
        let properties = object.members.map { member in
            (key: member.key, text: "{ \(members(member.about, isUnsettable: member.isUnsettable)) }")
        }
        return block(object.name, properties, summary: summary, further: object.schema)
    }

    private func property(_ row: JobField) -> (key: String, text: String) {
        if row.about.object?.name == row.key || isShared(row) {
            let reference = "\"$ref\": \"#/$defs/\(row.key)\""
            return (row.key, "{ \(row.isUnsettable ? Self.orNull(reference) : reference) }")
        }
        return (row.key, "{ \(members(row.about)) }")
    }

    /// Returns an object with these properties that allows extensions.
    private func block(
        _ name: String, _ properties: [(key: String, text: String)], summary: String? = nil, further: String = ""
    ) -> String {
        var head = summary.map { ["      \"description\": \(text($0)),"] } ?? []
        if !further.isEmpty { head.append("      \(further),") }
        let lines = properties.map { "        \"\($0.key)\": \($0.text)" }
        return
            (["    \"\(name)\": {"] + head + [
                "      \"type\": \"object\",", "      \"patternProperties\": { \"^x-\": true },",
                "      \"additionalProperties\": false,", "      \"properties\": {", lines.joined(separator: ",\n"),
                "      }", "    }",
            ]).joined(separator: "\n")
    }

    private var job: String {
        func branch(_ key: String, to type: String, _ foreign: [JobField]) -> String {
            let refused = foreign.map { ", \"\($0.key)\": false" }.joined()
            return
                "{ \"required\": [\"\(key)\"], \"properties\": { \"to\": { \"$ref\": \"#/$defs/\(type)\" }\(refused) } }"
        }
        let branches = [
            branch("download", to: "path", rows.filter(\.isOfUploadsOnly)),
            branch("upload", to: "url", rows.filter(\.isOfDownloadsOnly)),
        ]
        let further = """
            "required": ["to"],
                  "oneOf": [
                    \(branches.joined(separator: ",\n        "))
                  ]
            """
        return block("job", rows.map(property), further: further)
    }

    /// - Parameter lines: The lines of the file. An entry's own keys are kept.
    private func watch(_ lines: [String]) -> String {
        let shared = rows.filter { $0.places.contains(.watch) && isShared($0) }
        let own = lines.prefix { line in !shared.contains { line.hasPrefix("        \"\($0.key)\":") } }
        let made = shared.map(property).map { "        \"\($0.key)\": \($0.text)" }
        return (own + [made.joined(separator: ",\n"), "      }", "    }"]).joined(separator: "\n")
    }

    private func text(_ text: String) -> String { FieldCodec<String>.anyText.json(text) }

    // MARK: The manual page

    /// - Parameter file: The page. The text between the marks is generated anew.
    func manual(_ file: String) -> String {
        let exceptions = rows.filter { !$0.places.contains(.defaults) }.map(\.key)
        let list = ".Cm \(exceptions.dropLast().joined(separator: " , "))\nand\n.Cm \(exceptions.last ?? "") .\n"
        var result = replaced(file, "exceptions", by: list)
        let items = rows.map { row in
            var line = String(row.about.summary.prefix(upTo: endOfSentence(row.about.summary)))
            if let standard = row.about.standard, standard != "[]" {
                line += " By default \(standard.filter { $0 != "\"" })."
            }
            if row.isOfProtocols {
                let words = UploadRegistry.builtIn.filter { $0.entry.keys.contains(row.key) }.map(\.rawValue)
                line += " Uploads: \(words.joined(separator: ", "))."
            }
            return ".It Cm \(row.key)\n\(line.replacingOccurrences(of: "\\", with: "\\e"))\n"
        }
        result = replaced(result, "keys", by: ".Bl -tag -width createFolders -compact\n\(items.joined()).El\n")
        return result
    }

    // MARK: The article

    /// - Parameter file: The article. The text between the marks is generated anew.
    func article(_ file: String) -> String {
        let begin = "<!-- make tables: keys -->\n"
        guard let start = file.range(of: begin),
            let stop = file.range(of: "<!-- make tables: end of keys -->", range: start.upperBound..<file.endIndex)
        else { return file }
        let lines = rows.map { row -> String in
            let defaults = row.places.contains(.defaults) ? "" : " Not in `defaults`."
            let words = UploadRegistry.builtIn.filter { $0.entry.keys.contains(row.key) }.map(\.rawValue)
            let uploads = row.isOfProtocols ? " Uploads: \(words.joined(separator: ", "))." : ""
            return line(row.key, row.about, defaults + uploads)
        }
        let objects = rows.filter { $0.about.object?.members.isEmpty == false }.map { row -> String in
            let members = row.about.object?.members ?? []
            return "| key of `\(row.key)` | what it means | without it |\n| --- | --- | --- |\n"
                + members.map { line($0.key, $0.about, "") }.joined()
        }
        let table = "| key | what it means | without it |\n| --- | --- | --- |\n" + lines.joined()
        return file.replacingCharacters(
            in: start.upperBound..<stop.lowerBound, with: ([table] + objects).joined(separator: "\n"))
    }

    private func line(_ key: String, _ about: FieldNote, _ more: String) -> String {
        let standard = about.standard.flatMap { $0 == "[]" || $0 == "{}" ? nil : "`\($0)`" } ?? ""
        let cells = [about.summary + more, standard].map { cell in
            // An angle bracket would be read as HTML.
            cell.replacingOccurrences(of: "|", with: "\\|").replacingOccurrences(of: "<", with: "&lt;")
        }
        return "| `\(key)` | \(cells[0]) | \(cells[1]) |\n"
    }

    private func endOfSentence(_ text: String) -> String.Index {
        text.range(of: ". ").map { text.index(after: $0.lowerBound) } ?? text.endIndex
    }

    private func replaced(_ file: String, _ name: String, by text: String) -> String {
        let (begin, end) = (".\\\" make tables: \(name)\n", ".\\\" make tables: end of \(name)\n")
        guard let start = file.range(of: begin), let stop = file.range(of: end, range: start.upperBound..<file.endIndex)
        else { return file }
        return file.replacingCharacters(in: start.upperBound..<stop.lowerBound, with: text)
    }
}
