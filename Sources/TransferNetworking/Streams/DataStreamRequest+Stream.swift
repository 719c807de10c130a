extension DataStreamRequest.Stream {
    /// Of a piece; `nil` at the end.
    public var result: Result<Success, Failure>? {
        if case .stream(let result) = event { return result }
        return nil
    }

    /// Of a piece that could be made; `nil` otherwise.
    public var value: Success? { try? result?.get() }

    /// Of a piece that couldn't be made; `nil` otherwise.
    public var error: Failure? {
        if case .failure(let error) = result { return error }
        return nil
    }

    /// At the end; `nil` before.
    public var completion: DataStreamRequest.Completion? {
        if case .complete(let completion) = event { return completion }
        return nil
    }
}
