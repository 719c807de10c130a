import Testing

@testable import TransferCore

@Suite struct FileMediaTypeTests {
    @Test func theTableNamesEachExtensionOnceInLowerCaseAndOnlyRealTypes() {
        let lines = MediaTypeTable.lines.split(separator: "\n").map { $0.split(separator: " ").map(String.init) }
        let extensions = lines.flatMap { $0.dropFirst() }
        #expect(extensions.count > 400)
        #expect(Set(extensions).count == extensions.count)
        #expect(FileMediaType.table.count == extensions.count)
        #expect(extensions.allSatisfy { $0.wholeMatch(of: /[a-z0-9]+/) != nil })
        let type = /(application|audio|chemical|font|image|message|model|text|video)\/[A-Za-z0-9.+-]+/
        #expect(lines.allSatisfy { $0[0].wholeMatch(of: type) != nil })
    }

    @Test(
        arguments: [
            (["index.html"], "text/html"), (["INDEX.HTM"], "text/html"), (["a.tar.gz"], "application/gzip"),
            (["x.unheard", "report.pdf"], "application/pdf"), (["page.html", "page.txt"], "text/html"),
            (["folder.html/file"], nil), (["html"], nil), (["file."], nil), ([""], nil), ([nil, "é.png"], "image/png"),
        ] as [([String?], String?)])
    func theFirstNameThatSaysSomethingCounts(_ names: [String?], _ type: String?) {
        let found =
            names.count == 1
            ? FileMediaType.suggested(by: names[0]) : FileMediaType.suggested(by: names[0], names[1])
        #expect(found == type)
    }
}
