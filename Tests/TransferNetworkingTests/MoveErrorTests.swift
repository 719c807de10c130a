import Foundation
import Glibc
import Testing
import TransferCore

@testable import TransferNetworking

@Suite("Failed moves as Foundation's errors")
struct MoveErrorTests {
    private let source = URL(fileURLWithPath: "/tmp/source")
    private let target = URL(fileURLWithPath: "/tmp/target")

    @Test(arguments: [
        (EEXIST, CocoaError.Code.fileWriteFileExists), (ENOENT, .fileNoSuchFile), (EACCES, .fileWriteNoPermission),
        (EPERM, .fileWriteNoPermission), (ENOSPC, .fileWriteOutOfSpace), (EDQUOT, .fileWriteOutOfSpace),
        (EROFS, .fileWriteVolumeReadOnly), (ENAMETOOLONG, .fileWriteInvalidFileName), (EIO, .fileWriteUnknown),
    ])
    func eachCodeOfTheSystemHasItsCode(_ errno: Int32, _ code: CocoaError.Code) throws {
        let failure = TransferError(.fileAccess, "why", cause: .os(errno: errno))
        let error = try #require(CocoaError.ofMove(failure, from: source, to: target) as? CocoaError)
        #expect(error.code == code)
        #expect(error.localizedDescription == "why")
        let path = error.userInfo[NSFilePathErrorKey] as? String
        #expect(path == (code == .fileNoSuchFile ? source.path : target.path))
    }

    @Test func errorsOfFoundationAreUnchanged() {
        let own = CocoaError(.fileReadUnknown)
        #expect((CocoaError.ofMove(own, from: source, to: target) as? CocoaError)?.code == .fileReadUnknown)
    }
}
