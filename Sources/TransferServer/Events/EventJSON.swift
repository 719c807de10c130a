import TransferQueue

/// The events in the form of the command's `--json`, for streams that every client with the right to read may follow.
enum EventJSON {
    /// Returns the frame of an event; `nil` for an event that streams do not contain.
    static func frame(_ event: QueueEvent) -> EventFeed.Frame? {
        guard isReported(event.kind) else { return nil }
        let data = JSONObject.bytes { object in
            QueueJSON.members(of: event, to: &object) { JobJSON.shown($0, false) }
            // A number in JavaScript has only 53 bits, so the cursor is a text.
            object.optional("cursor", event.cursor.map { String($0) })
        }
        return EventFeed.Frame(cursor: event.cursor, name: event.kind.name, batch: event.batch, data: data)
    }

    /// Returns whether the event is an end that occurred in this run.
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
