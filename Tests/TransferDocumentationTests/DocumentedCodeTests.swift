import Foundation
import Testing
import TransferTestSupport

/// Every block of Swift in the documentation compiles as it is, with the products that it names and no others.
@Suite("The documentation's code", .timeLimit(.minutes(5)))
struct DocumentedCodeTests {
    @Test(arguments: [false, true])
    func compilesWithTheProductsThatItNames(_ withUmbrella: Bool) async throws {
        let blocks = try DocumentedBlock.all().filter { !$0.isManifest }
        #expect(blocks.count > 25)
        let given = try Given()
        var sources = [("given.swift", given.types)]
        for (number, block) in blocks.enumerated() {
            sources.append(
                block.source(given: given.locals(for: block.file), number: number, withUmbrella: withUmbrella))
        }
        let found = try await SwiftTypecheck.run(sources, version: 6, isStrict: true)
        let errors = found.filter { $0.kind == "error" }.map { error in
            let number = Int(error.file.filter(\.isNumber))
            return "\(number.map { blocks[$0].description } ?? error.file): \(error.message)"
        }
        #expect(errors == [])
    }

    /// The proof that the test above can fail: a name of the umbrella is unknown with the queue alone.
    @Test func aNameOfAnotherProductIsFound() async throws {
        let source = ("one.swift", "import TransferQueue\nfunc f() { _ = Session() }\n")
        let found = try await SwiftTypecheck.run([source, ("two.swift", "")], version: 6, isStrict: true)
        #expect(found.contains { $0.kind == "error" && $0.message.contains("cannot find 'Session'") })
    }

    /// Other tests build and run the programs, so a tutorial shows only code that was run.
    @Test(arguments: [
        ("TransferQueue/TransferQueue.docc/QueueInAService", "examples/service-program/ServiceProgram"),
        ("TransferQueue/TransferQueue.docc/WatchedFolderInAProgram", "examples/watch-program/WatchProgram"),
        (
            "TransferTesting/TransferTesting.docc/TestingYourOwnProgram",
            "Tests/TransferTestingTests/TestingYourOwnProgramTests"
        ),
    ])
    func theCodeOfATutorialIsThatOfItsProgram(_ article: String, _ program: String) throws {
        func code(_ text: String) -> [String] {
            text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }
                .filter { !$0.isEmpty && !$0.hasPrefix("import ") }
        }
        let lines = code(try DocumentedBlock.text(of: program + ".swift")).joined(separator: "\n")
        let blocks = try DocumentedBlock.blocks(of: "Sources/\(article).md").filter { !$0.isManifest }
        #expect(!blocks.isEmpty)
        for block in blocks {
            #expect(lines.contains(code(block.text).joined(separator: "\n")), "\(block) is not in \(program).swift")
        }
    }

    @Test func theProductsOfItsManifestsAreThoseOfThePackage() throws {
        let manifest = try DocumentedBlock.text(of: "Package.swift")
        let fragments = try DocumentedBlock.all().filter(\.isManifest)
        #expect(!fragments.isEmpty)
        for fragment in fragments {
            for product in fragment.text.matches(of: /\.product\(name: "(\w+)", package: "TransferKit"\)/) {
                #expect(manifest.contains(".library(name: \"\(product.1)\""), "\(fragment): \(product.1)")
            }
        }
    }
}

/// The declarations that documents assume: `Given/types.swift.txt`, and for each document `Given/locals.txt`.
private struct Given {
    let types: String
    private var locals: [String: String] = [:]

    init() throws {
        types = try DocumentedBlock.text(of: "Tests/TransferDocumentationTests/Given/types.swift.txt")
        var documents: [String] = []
        for line in try DocumentedBlock.text(of: "Tests/TransferDocumentationTests/Given/locals.txt").split(
            separator: "\n")
        {
            if line.hasPrefix("@ ") {
                documents = line.dropFirst(2).split(separator: " ").map(String.init)
            } else if !line.hasPrefix("#") {
                for document in documents { locals[document, default: ""] += line + "\n" }
            }
        }
    }

    /// Returns the declarations by the file's name, in any folder.
    func locals(for file: String) -> String { locals[String(file.split(separator: "/").last ?? "")] ?? "" }
}
