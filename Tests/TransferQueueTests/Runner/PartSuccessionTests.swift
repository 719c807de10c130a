import Foundation
import Glibc
import Testing
import TransferCore
import TransferTestSupport

@testable import TransferEngine
@testable import TransferJobs
@testable import TransferQueue

/// Partial files of workers that may share a folder.
@Suite struct PartSuccessionTests {
    private let folder: TemporaryFolder
    private let own = PartOwner(generation: 7, bootID: "aaaaaaaa-1")
    private let neighbour = PartOwner(generation: 6, bootID: "aaaaaaaa-1")
    private let stranger = PartOwner(generation: 5, bootID: "bbbbbbbb-1")

    init() throws { folder = try TemporaryFolder("succession") }

    private var file: String { folder.path("file") }

    private func succession(_ earlier: PartOwner...) -> PartSuccession {
        PartSuccession(owners: PartOwners(own: own, earlier: earlier))
    }

    private func part(of owner: PartOwner) -> String { PartName.path(of: "\(file).\(owner.text)") }

    /// Opens and locks a partial file of that owner for the lifetime of the value.
    private func begin(_ owner: PartOwner) throws -> PartFile {
        let part = try PartFile.open(part(of: owner))
        try part.overwrite(Array(owner.text.utf8), at: 0)
        return part
    }

    private func settle(_ succession: PartSuccession, wasInterrupted: Bool = true) -> ResumeData? {
        succession.settle(of: file, in: nil, wasInterrupted: wasInterrupted, nil)
    }

    @Test func eachOwnerHasItsOwnNameAndALocalQueueTheUsualOne() {
        #expect(PartSuccession(owners: nil).base(of: file) == file)
        #expect(succession().base(of: file) == "\(file).7-aaaaaaaa")
        #expect(own.isOnMachine(of: neighbour) && !own.isOnMachine(of: stranger))
        #expect(succession(stranger).names(of: file) == [part(of: own), part(of: stranger)])
    }

    @Test func aReturnedPartIsContinued() throws {
        try begin(stranger).unlock()
        _ = settle(succession(stranger), wasInterrupted: false)
        #expect(try folder.files() == ["file.\(own.text).part"])
        #expect(try folder.text("file.\(own.text).part") == stranger.text)
    }

    @Test func aPartOfADeadLocalProcessIsContinued() throws {
        try begin(neighbour).unlock()
        _ = settle(succession(neighbour))
        #expect(try folder.text("file.\(own.text).part") == neighbour.text)
    }

    @Test func aPartThatMayStillBeWrittenIsRemovedUntouched() throws {
        let (living, cutOff) = (try begin(neighbour), try begin(stranger))
        cutOff.unlock()
        _ = settle(succession(stranger, neighbour))
        #expect(try folder.files().isEmpty)
        // A process that has them open writes to unlinked files, and cannot give them their final name.
        try living.overwrite([1], at: 0)
        for part in [living, cutOff] {
            let error = #expect(throws: TransferError.self) { try part.rename(to: file, replacing: false) }
            #expect(error?.code == .partNotOurs)
        }
        #expect(try folder.files().isEmpty)
    }

    @Test func aLatePartOfAnEarlierOwnerIsRemovedAtTheEnd() throws {
        let another = PartOwner(generation: 9, bootID: "cccccccc-1")
        let parts = try [stranger, own, another].map { try begin($0) }
        succession(neighbour, stranger).sweep(of: file, in: nil)
        #expect(try folder.files() == ["file.\(own.text).part", "file.\(another.text).part"])
        PartSuccession(owners: nil).sweep(of: file, in: nil)
        #expect(try folder.files().count == parts.count - 1)
    }

    @Test func theQueuesRecordFollowsThePart() throws {
        try begin(neighbour).unlock()
        let record = ResumeData(
            url: "http://h.example/", validator: nil, total: nil, written: ByteRanges(0..<1), bootID: "b",
            partialFile: part(of: neighbour))
        let settled = succession(neighbour).settle(of: file, in: nil, wasInterrupted: true, record)
        #expect(settled?.partialFile == part(of: own))
    }
}
