import Testing

@testable import TransferServer

/// The frames that streams of events are sent.
@Suite struct EventFeedTests {
    private func frame(_ name: String, isSnapshot: Bool = false) -> EventFeed.Frame {
        EventFeed.Frame(cursor: nil, name: name, isSnapshot: isSnapshot, batch: "", data: [])
    }

    /// A stream that is behind gets the last snapshot alone, and every other frame.
    @Test func anOutdatedSnapshotIsNotKept() async throws {
        let feed = EventFeed(ServerLimits())
        let seat = try #require(feed.join())
        for number in 0..<3 {
            feed.add(frame("progress \(number)", isSnapshot: true))
            feed.add(frame("event \(number)"))
        }
        guard case .frames(let frames, let next) = await feed.portion(from: seat.place) else {
            Issue.record("no frames")
            return
        }
        #expect(frames.map(\.name) == ["event 0", "event 1", "progress 2", "event 2"])
        feed.add(frame("progress 3", isSnapshot: true))
        guard case .frames(let later, _) = await feed.portion(from: next) else {
            Issue.record("no frames")
            return
        }
        #expect(later.map(\.name) == ["progress 3"])
    }

    @Test func snapshotsFillNoMemoryBeyondTheKeptFrames() async throws {
        let feed = EventFeed(ServerLimits())
        let seat = try #require(feed.join())
        for number in 0..<20_000 { feed.add(frame("progress \(number)", isSnapshot: true)) }
        guard case .behind = await feed.portion(from: seat.place) else {
            Issue.record("the first frames are kept")
            return
        }
        let place = feed.present.place
        guard case .frames(let frames, _) = await feed.portion(from: place - 4000) else {
            Issue.record("the last frames are not kept")
            return
        }
        #expect(frames.map(\.name) == ["progress 19999"])
    }
}
