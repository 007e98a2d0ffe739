-- What a verdict says where nothing can be judged, because the projections are not whole.
create macro not_whole_message() as
    'the projections do not hold what the ledger accepted; look again, or run an audit'
