import Foundation
import Glibc
import Testing
import TransferCore
import TransferEngine
import TransferTestSupport

@testable import TransferJobs

/// Files of confined jobs are reached through opened folders: a program that changes a name in between gains nothing.
@Suite struct ConfinementTests {
    private let folder: TemporaryFolder
    private let bounds: JobConfinement

    init() throws {
        folder = try TemporaryFolder("bounds")
        for name in ["in/deep", "outside"] { try folder.folder(name) }
        bounds = JobConfinement(folder: folder.path("in"), allowsPrivate: true)
    }

    private func link(_ name: String, to target: String) throws {
        try FileManager.default.createSymbolicLink(atPath: folder.path(name), withDestinationPath: target)
    }

    /// Replaces the folder with a link that leads out.
    private func swap(_ name: String) throws {
        try FileManager.default.moveItem(atPath: folder.path(name), toPath: folder.path("in/moved"))
        try link(name, to: folder.path("outside"))
    }

    private func names(_ name: String) throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: folder.path(name)).sorted()
    }

    private func refused(_ body: () throws(TransferError) -> Void) -> TransferError.Code? {
        do { try body() } catch { return error.message.contains("is not beneath") ? error.code : nil }
        return nil
    }

    @Test func aFolderReplacedByALinkStaysTheOpenedFolder() throws {
        let path = folder.path("in/deep/a")
        let pinned = try bounds.pin(folderOf: path).folder
        try folder.write("secret", to: "outside/a")
        try swap("in/deep")
        let part = try PartFile.open(path + ".part", in: pinned)
        #expect(try names("in/moved") == ["a.part"])
        let bytes = Array("bytes".utf8)
        #expect(write(part.descriptor, bytes, bytes.count) == bytes.count)
        try part.rename(to: path, replacing: true)
        #expect(try names("in/moved") == ["a"] && folder.text("in/moved/a") == "bytes")
        #expect(try names("outside") == ["a"] && folder.text("outside/a") == "secret")
        #expect(part.path == path + ".part", "people read the name that they know")
    }

    @Test func namedAndUnnamedPartsStayInTheOpenedFolder() throws {
        let path = folder.path("in/deep/a")
        let pinned = try bounds.pin(folderOf: path).folder
        try swap("in/deep")
        let unnamed = try #require(PartFile.openUnnamed(path + ".part", in: pinned))
        try unnamed.rename(to: path, replacing: false)
        #expect(throws: TransferError.self) { try unnamed.rename(to: path, replacing: false) }
        let part = try PartFile.open(path + ".part", in: pinned)
        part.remove()
        #expect(try names("in/moved") == ["a"] && names("outside").isEmpty)
    }

    @Test func missingFoldersAreMadeBeneathTheFolderOnly() throws {
        let (pinned, made) = try bounds.pin(folderOf: folder.path("in/x/y/a"))
        #expect(made == [folder.path("in/x"), folder.path("in/x/y")] && pinned.path == folder.path("in/x/y"))
        #expect(try bounds.pin(folderOf: folder.path("in/x/y/b")).made.isEmpty)
        #expect(try bounds.pin(folderOf: folder.path("in/c")).folder.path == folder.path("in"))
        try link("in/out", to: folder.path("outside"))
        try link("in/nowhere", to: folder.path("none"))
        for path in ["in/out/a", "in/out/new/a", "in/nowhere/a", "in/nowhere/new/a", "outside/a", "in/../outside/a"] {
            let code = refused { () throws(TransferError) in _ = try bounds.pin(folderOf: folder.path(path)) }
            #expect(code == .fileAccess, "\(path)")
        }
        #expect(try names("outside").isEmpty && !folder.exists("none"))
    }

    @Test func linksWithinTheFolderAreFollowed() throws {
        try link("in/here", to: "deep")
        let (pinned, _) = try bounds.pin(folderOf: folder.path("in/here/a"))
        _ = try PartFile.open(folder.path("in/here/a.part"), in: pinned)
        #expect(try names("in/deep") == ["a.part"])
    }

    @Test func aSourceIsOpenedBeneathTheFolderOrNotAtAll() throws {
        try folder.write("own", to: "in/deep/a")
        try folder.write("secret", to: "outside/a")
        try link("in/deep/out", to: folder.path("outside/a"))
        try link("in/deep/kernel", to: "/proc/self/environ")
        let descriptor = try bounds.open(folder.path("in/deep/a"))
        #expect(try SourceFile(folder.path("in/deep/a"), opened: descriptor).size == 3)
        for path in ["in/deep/out", "in/deep/kernel", "outside/a"] {
            #expect(refused { () throws(TransferError) in _ = try bounds.open(folder.path(path)) } == .fileAccess)
        }
        try swap("in/deep")
        #expect(refused { () throws(TransferError) in _ = try bounds.open(folder.path("in/deep/a")) } == .fileAccess)
        #expect(throws: TransferError.self) { try bounds.open(folder.path("in/none")) }
    }

    @Test func aComparedFileIsNotReadThroughALink() throws {
        try folder.write("own", to: "in/deep/a")
        try link("in/deep/out", to: folder.path("outside/a"))
        try folder.write("secret", to: "outside/a")
        let pinned = try bounds.pin(folderOf: folder.path("in/deep/a")).folder
        let sum = try pinned.reading(folder.path("in/deep/a")) { (path) throws(TransferError) in
            try FileDigest.compute(path, .sha256)
        }
        #expect(try sum == FileDigest.compute(folder.path("in/deep/a"), .sha256))
        #expect(throws: TransferError.self) {
            try pinned.reading(folder.path("in/deep/out")) { (path) throws(TransferError) in
                try FileDigest.compute(path, .sha256)
            }
        }
    }
}
