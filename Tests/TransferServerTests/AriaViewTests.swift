import Testing
import TransferTestSupport

@testable import TransferServer

/// The results that clients of aria2's interface have removed.
@Suite struct AriaViewTests {
    @Test func aStateFileMayEndInRemovalsAndTheirReturn() {
        #expect(AriaView.State(text: "7 3 4\n") == AriaView.State(purged: 7, removed: [3, 4]))
        #expect(AriaView.State(text: "7\n3\n4\n-3\n") == AriaView.State(purged: 7, removed: [4]))
        #expect(AriaView.State(text: "") == nil && AriaView.State(text: "x 1") == nil)
        let state = AriaView.State(purged: 7, removed: [4, 2])
        #expect(AriaView.State(text: state.text) == state)
        #expect(!state.shows(4, endedAt: 9) && !state.shows(5, endedAt: 7) && state.shows(5, endedAt: 8))
        #expect(state.shows(5, endedAt: nil))
    }

    /// A removal appends to the file, whose earlier bytes stay.
    @Test func removalsAreAppendedAndReadByTheNextService() throws {
        let folder = try TemporaryFolder("view")
        var view: AriaView? = AriaView(folder: folder.path)
        view?.purge(upTo: 5, forgetting: [])
        for number in 1...100 as ClosedRange<Int64> { view?.remove(number) }
        view?.restore(50)
        view = nil
        let size = try #require(folder.size("serve.aria2"))
        let lines = ["5"] + (1...100).map(String.init) + ["-50"]
        #expect(size == lines.joined(separator: "\n").utf8.count + 1)
        let next = AriaView(folder: folder.path)
        let shown: Set<Int64> = [50]
        #expect(next.current.purged == 5 && next.current.removed == Set(1...100).subtracting(shown))
        next.purge(upTo: 9, forgetting: next.current.removed.subtracting([7]))
        #expect(AriaView(folder: folder.path).current == AriaView.State(purged: 9, removed: [7]))
    }

    /// The cursors and numbers of one queue mean nothing in another one.
    @Test func theMarksOfOneQueueHideNothingInAnother() throws {
        let folder = try TemporaryFolder("view")
        let queues = [nil, "postgres://a.example/q", "postgres://a.example/q?queue=other"]
        for (cursor, queue) in zip(1...3 as ClosedRange<Int64>, queues) {
            ClearedEnds(folder: folder.path, queue: queue).clear(upTo: cursor)
            AriaView(folder: folder.path, queue: queue).purge(upTo: cursor + 10, forgetting: [])
        }
        for (cursor, queue) in zip(1...3 as ClosedRange<Int64>, queues) {
            #expect(ClearedEnds(folder: folder.path, queue: queue).mark == cursor)
            #expect(AriaView(folder: folder.path, queue: queue).current.purged == cursor + 10)
        }
        ClearedEnds(folder: folder.path).reset()
        #expect(ClearedEnds(folder: folder.path).isEmpty)
    }

    /// The folder appears after the view, so that the first removal finds no file to append to.
    @Test func aFileThatCouldNotBeMadeIsMadeByTheNextRemoval() throws {
        let folder = try TemporaryFolder("view")
        let path = folder.path("state")
        let view = AriaView(folder: path)
        view.remove(3)
        _ = try folder.folder("state")
        view.remove(4)
        #expect(AriaView(folder: path).current.removed == [3, 4])
    }
}
