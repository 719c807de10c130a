import Testing
import TransferCore
import TransferWatch

@testable import TransferJobs

/// The identity of places at servers, by the request that is made.
@Suite struct UploadPlaceTests {
    @Test(arguments: [
        ("http://h/a", "HTTP://H:80/a"), ("https://h/a", "https://h:443/a#x"), ("https://h/a", "https://h:/./b/../a"),
        ("http://h/a%20b", "http://h/%61%20b"), ("http://h/%7Ea", "http://h/~a"),
        ("http://h/%c3%a4", "http://h/%C3%A4"),
        ("http://h/a!b", "http://h/a%21b"), ("http://h/a", "http://h/a/"),
        ("http://h", "http://h/"), ("ftp://h/a", "ftp://h:21/a;type=i"), ("sftp://h/a", "sftp://h:22/a"),
        ("http://h/a?x=%7e", "http://h/a?x=~"), ("s3://b/a%2Bb", "s3://b/a%2bb"),
    ])
    func onePlaceHasOneKey(one: String, other: String) {
        #expect(UploadPlace.key(of: one) == UploadPlace.key(of: other))
    }

    @Test(arguments: [
        ("http://h/a", "https://h/a"), ("http://h/a", "http://h:8080/a"), ("http://h/a", "http://h/A"),
        ("http://h/a?x=1", "http://h/a?x=2"), ("http://h/a;v=1", "http://h/a;v=2"), ("http://h/a%2Fb", "http://h/a/b"),
        ("http://h/a%25b", "http://h/a%b0"), ("s3://b/a", "s3://b/a/"), ("s3://b/a", "s3://B/a"),
        ("ftp://h/a;type=x", "ftp://h/a"), ("http://h/a", "http://h//a"), ("http://h/a?x=1%262", "http://h/a?x=1&2"),
    ])
    func differentPlacesHaveDifferentKeys(one: String, other: String) {
        #expect(UploadPlace.key(of: one) != UploadPlace.key(of: other))
    }

    @Test(arguments: ["https://files.example/in/a-b_c.txt", "https://h:8443/a/b", "sftp://h/x"])
    func aPlainURLIsItsOwnKey(url: String) { #expect(UploadPlace.key(of: url) == url) }

    @Test(arguments: ["http://h/Photos #1/a", "http://h/a#", "s3://b/x#1", "sftp://h/a#b"])
    func aFragmentIsRefused(url: String) {
        #expect(URLRule.refusal(ofDestination: url)?.message.contains("%23") == true)
        let spec = JobSpec(work: .upload(JobSpec.Upload(source: "/x", url: url)))
        #expect(JobRule.faults(of: spec).contains { $0.contains("%23") })
    }

    @Test func aNameDoesNotGoIntoAQuery() {
        #expect(URLRule.requestRefusal(ofFolder: "http://h/What?/")?.contains("%3F") == true)
        #expect(URLRule.requestRefusal(ofFolder: "http://h/What%3F/") == nil)
        #expect(URLRule.requestRefusal(ofFolder: "sftp://h/What?/") == nil)
    }

    @Test(arguments: [
        ("http://h/Photos #1/{name}", false), ("http://h/Photos%20%231/{name}", true), ("http://h/#{name}", false),
        ("http://h/What?/{name}", false), ("http://h/{name}?v=1", true), ("http://h/in/?v=1", true),
        ("sftp://h/What?/{name}", true),
    ])
    func aWatchedFoldersURLNamesItsFilesInTheRequest(url: String, isAllowed: Bool) {
        var spec = WatchSpec(folder: "/in", url: url)
        if url.hasPrefix("sftp") { spec.upload.uploadProtocol = .sftp }
        #expect(spec.complete().isEmpty == isAllowed)
    }
}
