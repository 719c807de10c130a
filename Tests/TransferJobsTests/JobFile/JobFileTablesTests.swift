import Foundation
import Testing

@testable import TransferJobs

/// The agreement of the schemas, the manual page and the article with the table of a job's keys.
@Suite struct JobFileTablesTests {
    private static let root = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()

    @Test func theSchemaIsMadeOfTheTable() throws {
        try hold("jobs/transfer-jobs.schema.json") { $0.schema($1) }
    }

    @Test func theManualPagesTableIsMadeOfTheTable() throws { try hold("man/transfer-jobs.5") { $0.manual($1) } }

    @Test func theArticlesTablesAreMadeOfTheTable() throws {
        try hold("Sources/TransferKit/TransferKit.docc/JobFile.md") { $0.article($1) }
    }

    @Test func theConfigurationsSchemaIsMadeOfTheTable() throws {
        let jobs = try String(
            contentsOf: Self.root.appendingPathComponent("jobs/transfer-jobs.schema.json"), encoding: .utf8)
        try hold("jobs/transfer-config.schema.json") { tables, _ in
            try ConfigurationSchema(jobs: tables.schema(jobs)).text
        }
    }

    /// The article has each key of each object, so that a reader needs no other document.
    @Test func theArticleHasEveryKey() throws {
        let article = JobFileTables(fields: .all).article(
            "<!-- make tables: keys -->\n<!-- make tables: end of keys -->\n")
        for row in JobFields.all.rows {
            #expect(article.contains("| `\(row.key)` | "), "\(row.key)")
            for member in row.about.object?.members ?? [] {
                let table = article.components(separatedBy: "| key of `\(row.key)` |").last ?? ""
                #expect(table.contains("| `\(member.key)` | "), "\(row.key).\(member.key)")
            }
        }
    }

    /// Writes the file when `make tables` asks for it, and compares it otherwise.
    private func hold(_ path: String, _ make: (JobFileTables, String) throws -> String) throws {
        let file = Self.root.appendingPathComponent(path)
        let text = try String(contentsOf: file, encoding: .utf8)
        let made = try make(JobFileTables(fields: .all), text)
        if ProcessInfo.processInfo.environment["TRANSFER_TABLES"] == "write" {
            return try made.write(to: file, atomically: true, encoding: .utf8)
        }
        let (old, new) = (text.components(separatedBy: "\n"), made.components(separatedBy: "\n"))
        let changes = new.difference(from: old).map { change in
            switch change {
            case .insert(_, let line, _): "+\(line)"
            case .remove(_, let line, _): "-\(line)"
            }
        }
        #expect(changes == [], "\(path) is not what the table says; `make tables` writes it")
    }

    @Test func eachDefinitionOfTheSchemaIsReferredTo() throws {
        let text = try String(
            contentsOf: Self.root.appendingPathComponent("jobs/transfer-jobs.schema.json"), encoding: .utf8)
        let definitions = text.components(separatedBy: "\n  \"$defs\": {\n").last ?? ""
        let names = definitions.matches(of: #/(?m)^ {4}"([A-Za-z0-9]+)":/#).map { String($0.1) }
        #expect(names.count > 30)
        #expect(names.filter { !text.contains("\"#/$defs/\($0)\"") } == [])
    }

    @Test func everyKeyHasItsLineOfDocumentation() {
        for row in JobFields.all.rows {
            #expect(row.about.summary.hasSuffix(".") && !row.about.summary.contains("\n"), "\(row.key)")
            for member in row.about.object?.members ?? [] {
                #expect(member.about.summary.hasSuffix("."), "\(row.key).\(member.key)")
            }
        }
    }

    @Test func keysNamedInTheCodeAreInTheTable() {
        #expect(JobKey.allCases.map(\.rawValue).filter { !JobFields.all.table.names.contains($0) } == [])
        #expect(Set(JobFields.all.table.names).count == JobFields.all.rows.count)
    }
}
