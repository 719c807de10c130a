import TransferQueue

/// Events with the words of the command's `--json`, for streams that whoever may look can read.
enum EventJSON {
    /// The frame of an event; `nil` for one that streams aren't told.
    static func frame(_ event: QueueEvent) -> EventFeed.Frame? {
        guard isReported(event.kind) else { return nil }
        let data = JSONObject.bytes { object in
            QueueJSON.members(of: event, to: &object) { JobJSON.shown($0, false) }
            // A number of JavaScript has 53 bits.
            object.optional("cursor", event.cursor.map { String($0) })
        }
        return EventFeed.Frame(cursor: event.cursor, name: event.kind.name, batch: event.batch, data: data)
    }

    /// Whether it's an end that wasn't there before this run.
    static func isEnd(_ kind: QueueEvent.Kind) -> Bool {
        if case .kept = kind { return false }
        return kind.isEnd
    }

    private static func isReported(_ kind: QueueEvent.Kind) -> Bool {
        switch kind {
        // Coalesced elsewhere, or of no change.
        case .progress, .source, .authorized, .congestion, .kept, .hook: false
        default: true
        }
    }
}
