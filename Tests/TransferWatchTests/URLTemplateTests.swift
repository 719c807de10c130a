import Foundation
import Testing
import TransferCore

@testable import TransferWatch

@Suite struct URLTemplateTests {
    static let file = FileVersion(
        device: 1, inode: 2, size: 3, modified: 1_772_366_400_000_000_000, path: "day 1/täg/50% off?.mp4")

    @Test(arguments: [
        ("https://h/{name}", "https://h/50%25%20off%3F.mp4"),
        ("https://h/{path}", "https://h/day%201/t%C3%A4g/50%25%20off%3F.mp4"),
        ("https://h/{host}/{sha256}", "https://h/box%2F1/abc"),
        ("s3://b/{name}{name}", "s3://b/50%25%20off%3F.mp450%25%20off%3F.mp4"),
        ("https://h/plain", "https://h/plain"),
    ])
    func fillsInEncoded(text: String, url: String) throws {
        let template = try URLTemplate(text)
        #expect(template.url(for: Self.file, sha256: "abc", host: "box/1") == url)
        #expect(template.description == text)
    }

    @Test func writesTheLocalDayOfTheLastChange() throws {
        let template = try URLTemplate("https://h/{date}/")
        for modified in [1_772_366_400_000_000_000, -1, 951_782_399_999_999_999] as [Int64] {
            var file = Self.file
            file.stamp.modified = modified
            let formatter = DateFormatter()
            formatter.locale = Locale(identifier: "en_US_POSIX")
            formatter.dateFormat = "yyyy-MM-dd"
            let seconds = (modified - (modified < 0 ? 999_999_999 : 0)) / 1_000_000_000
            let day = formatter.string(from: Date(timeIntervalSince1970: Double(seconds)))
            #expect(template.url(for: file, host: "h") == "https://h/\(day)/")
        }
    }

    @Test(arguments: ["https://h/{nmae}", "https://h/{}", "https://h/{name", "https://h/{Name}"])
    func namesTheKnownPlaceholdersWhenOneIsNot(text: String) {
        let error = #expect(throws: TransferError.self) { try URLTemplate(text) }
        #expect(error?.code == .badURL)
        for name in ["{name}", "{path}", "{date}", "{sha256}", "{host}"] {
            #expect(error?.message.contains(name) == true)
        }
    }

    @Test(arguments: [
        ("https://h/in/", false, "https://h/in/{name}"), ("https://h/in/", true, "https://h/in/{path}"),
        ("https://h/in", true, "https://h/in/{path}"), ("https://h", false, "https://h/{name}"),
        ("https://h/in?key=1", false, "https://h/in/{name}?key=1"),
        ("https://h/{date}/", true, "https://h/{date}/{path}"),
        ("https://h/{date}?on={host}", false, "https://h/{date}/{name}?on={host}"),
        ("https://h/{name}", true, "https://h/{name}"), ("https://h/{sha256}.bin", true, "https://h/{sha256}.bin"),
    ])
    func theDistinguishingPartIsAdded(text: String, isRecursive: Bool, completed: String) throws {
        let template = try URLTemplate(text).completed(isRecursive: isRecursive)
        #expect(template.description == completed)
    }

    @Test func aTemplateKnowsWhetherItNeedsTheDigestAndDistinguishesFiles() throws {
        let byName = try URLTemplate("https://h/{name}")
        #expect(!byName.needsDigest && byName.tellsFilesApart(isRecursive: false))
        #expect(!byName.tellsFilesApart(isRecursive: true))
        let byDigest = try URLTemplate("https://h/{sha256}")
        #expect(byDigest.needsDigest && byDigest.tellsFilesApart(isRecursive: true))
    }
}
